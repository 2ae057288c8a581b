"use strict";
const byId = id => document.getElementById(id);
const [text, lines, message, view, runButton, stopButton, examples, law, bar] =
  ["text", "lines", "message", "view", "run", "stop", "examples", "law", "bar"].map(byId);

// The module and the worker's script stand in this page: nothing is fetched.
const wasm = Uint8Array.from(atob(byId("wasm").textContent.trim()), c => c.charCodeAt(0));
const script = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));

// The run in hand: its text, how far it is, and whether its worker hears; and what a new worker is to compute once more.
let worker, token = null, current = null, again = null, ending = 0, busy = false, runs = 0, waiting = 0, asked = 0, timer = 0;

function start() {
  worker = new Worker(script);
  worker.onmessage = ({ data }) => {
    if (data.ready) { document.body.dataset.ready = "yes"; if (again) { order(again); again = null; } else { check(); } return; }
    if (data.hears !== undefined) { current.hears = data.hears; return; }
    if (data.progress) { current.at = data.progress; bar.value = data.progress.share; say(`${data.progress.name}: ${Math.round(100 * data.progress.share)} %`); return; }
    if (data.dead) { restart(); }
    if (data.order === "check") { if (data.id === asked && !busy) told(data.answer); return; }
    finish(); told(data.answer);
    if (data.answer.page) { view.srcdoc = data.answer.page; }
  };
  worker.onerror = e => { finish(); fail(null, "nsm stopped: " + e.message); restart(); };
  worker.postMessage({ wasm });
}
function restart() { worker.terminate(); delete document.body.dataset.ready; start(); }

function say(words, wrong) { message.textContent = words; message.className = wrong ? "wrong" : ""; }
function fail(line, words) {
  say(line ? `line ${line}: ${words}` : words, true);
  mark(line);
}
function mark(line) {
  [...lines.children].forEach((row, k) => row.classList.toggle("wrong", k + 1 === line));
  document.body.dataset.line = line || "";
}
function told(answer) {
  if (answer.error) { fail(answer.error.line, (answer.error.key ? `\`${answer.error.key}\`: ` : "") + answer.error.message); return; }
  mark(null);
  if (answer.page === undefined) {
    const names = answer.runs.map(r => `${r.name} by ${r.method}`);
    say(names.length ? names.slice(0, 4).join(", ") + (names.length > 4 ? `, … (${names.length} runs)` : "") : "no [[run]] yet", !names.length);
    return;
  }
  if (answer.interrupted) { say(`stopped after ${answer.seconds.toFixed(2)} s: what was computed up to there is shown`); return; }
  const failed = answer.failed.join("\n"), refuted = answer.refuted ? `${answer.refuted} check(s) do not hold. ` : "";
  say(failed || `${refuted}${answer.seconds.toFixed(2)} s`, failed || refuted);
}

function number() {
  const count = text.value.split("\n").length;
  while (lines.children.length > count) { lines.lastChild.remove(); }
  while (lines.children.length < count) { lines.append(Object.assign(document.createElement("div"), { textContent: lines.children.length + 1 })); }
  lines.scrollTop = text.scrollTop;
}
// The choice of an impact law is that of the line `law = "…"`, wherever the file has one.
const LAW = /^(\s*law\s*=\s*")([a-z]+)(")/m;
function laws() { const found = text.value.match(LAW); law.parentElement.hidden = !found; if (found) { law.value = found[2]; } }
function changed() { number(); laws(); clearTimeout(timer); timer = setTimeout(check, 250); }
function check() { if (!busy && document.body.dataset.ready) { worker.postMessage({ id: ++asked, order: "check", text: text.value }); } }

function run() {
  if (busy || !document.body.dataset.ready) { return; }
  busy = true; clearTimeout(timer); runButton.disabled = true; stopButton.disabled = false; bar.hidden = false; bar.value = 0;
  document.body.dataset.busy = "yes";
  say("at work …");
  order({ text: text.value, hears: true, at: null, limit: null });
}
function order(next) {
  current = next;
  token = URL.createObjectURL(new Blob(["go on"]));
  worker.postMessage({ id: ++waiting, order: "run", text: current.text, token, limit: current.limit });
}
function finish() { busy = false; clearTimeout(ending); URL.revokeObjectURL(token); runButton.disabled = false; stopButton.disabled = true; bar.hidden = true; delete document.body.dataset.busy; document.body.dataset.runs = ++runs; }
// The worker ends its run in good order and shows what it has; one that does not hear is ended, and another one computes as far once more.
function stop() {
  if (!busy) { return; }
  if (!current.hears && current.at && !current.limit) {
    say("stopping: computing once more up to here …");
    again = { text: current.text, hears: false, at: null, limit: current.at };
    restart();
    return;
  }
  stopButton.disabled = true; say("stopping …");
  URL.revokeObjectURL(token);
  ending = setTimeout(() => { finish(); restart(); say("stopped: the run did not answer, and what it had computed is lost", true); asked++; }, current.hears ? 5000 : 0);
}

text.addEventListener("input", changed);
text.addEventListener("scroll", () => { lines.scrollTop = text.scrollTop; });
text.addEventListener("keydown", e => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); run(); } });
runButton.addEventListener("click", run);
stopButton.addEventListener("click", stop);
law.addEventListener("change", () => { text.value = text.value.replace(LAW, `$1${law.value}$3`); changed(); run(); });
for (const example of document.querySelectorAll("script.example")) {
  examples.append(new Option(example.dataset.title, examples.options.length));
}
examples.addEventListener("change", () => {
  text.value = document.querySelectorAll("script.example")[examples.value].textContent.replace(/^\n/, "");
  changed();
});
examples.selectedIndex = 0;
text.value = document.querySelector("script.example").textContent.replace(/^\n/, "");
number(); laws(); start();
