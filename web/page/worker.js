// The worker: nsm itself. It answers one order at a time. While it computes it hears no message; the page tells it to stop by revoking the
// address of `token`, which it looks up now and then.
let token = null, asked = 0;
function nsmStopped() {
  if (!token || performance.now() - asked < 100) { return false; }
  asked = performance.now();
  try {
    const request = new XMLHttpRequest();
    request.open("GET", token, false);
    request.send();
    return false;
  } catch (error) { return true; }
}
function nsmProgress(name, share) { postMessage({ progress: { name, share } }); }
const ready = (async () => {
  const bytes = await new Promise(resolve => { self.onmessage = e => resolve(e.data.wasm); });
  await wasm_bindgen({ module_or_path: bytes });
  self.onmessage = e => {
    const { id, order, text } = e.data;
    token = e.data.token;
    try {
      postMessage({ id, order, answer: JSON.parse(wasm_bindgen[order](text)) });
    } catch (error) {
      postMessage({ id, order, answer: { error: { line: null, key: "", message: "nsm stopped: " + error } }, dead: true });
    }
  };
  postMessage({ ready: true });
})();
