// Filters the lines of the report, and opens the experiments that a link leads to.
(() => {
  const [text, paper, verdict] = document.querySelectorAll(".filter input, .filter select");
  const show = () => {
    const words = text.value.toLowerCase();
    for (const row of document.querySelectorAll("table.index tbody tr")) {
      const fits =
        (!words || row.textContent.toLowerCase().includes(words)) &&
        (!paper.value || row.dataset.chapter === paper.value) &&
        (!verdict.value || row.dataset.verdicts.split(" ").includes(verdict.value));
      row.hidden = !fits;
    }
  };
  for (const field of [text, paper, verdict]) field.addEventListener("input", show);
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    const behind = target.closest("details.line");
    if (behind) behind.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
