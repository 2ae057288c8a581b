// The worker: nsm itself. It answers one order at a time; the page stops it by ending it.
function nsmProgress(name, share) { postMessage({ progress: { name, share } }); }
const ready = (async () => {
  const bytes = await new Promise(resolve => { self.onmessage = e => resolve(e.data.wasm); });
  await wasm_bindgen({ module_or_path: bytes });
  self.onmessage = e => {
    const { id, order, text } = e.data;
    try {
      postMessage({ id, order, answer: JSON.parse(wasm_bindgen[order](text)) });
    } catch (error) {
      postMessage({ id, order, answer: { error: { line: null, key: "", message: "nsm stopped: " + error } }, dead: true });
    }
  };
  postMessage({ ready: true });
})();
