// The worker: nsm itself. It answers one order at a time. While it computes it hears no message; the page tells it to stop by revoking the
// address of `token`, which it looks up now and then. A page that was opened as a file cannot be asked like that; then it says so before it begins, and the page
// ends it and has another one compute up to `limit`, the run and the share that it had told of.
let token = null, limit = null, asked = 0, now = { name: "", share: 0 };
function hears(address) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.send();
    return true;
  } catch (error) { return false; }
}
function nsmStopped() {
  if (limit && now.name === limit.name && now.share >= limit.share) { return true; }
  if (!token || performance.now() - asked < 100) { return false; }
  asked = performance.now();
  return !hears(token);
}
function nsmProgress(name, share) { now = { name, share }; postMessage({ progress: now }); }
const ready = (async () => {
  const bytes = await new Promise(resolve => { self.onmessage = e => resolve(e.data.wasm); });
  await wasm_bindgen({ module_or_path: bytes });
  self.onmessage = e => {
    const { id, order, text } = e.data;
    limit = e.data.limit || null;
    token = e.data.token && hears(e.data.token) ? e.data.token : null;
    if (order === "run") { postMessage({ hears: Boolean(token) }); }
    try {
      postMessage({ id, order, answer: JSON.parse(wasm_bindgen[order](text)) });
    } catch (error) {
      postMessage({ id, order, answer: { error: { line: null, key: "", message: "nsm stopped: " + error } }, dead: true });
    }
  };
  postMessage({ ready: true });
})();
