const { search } = JSON.parse(find("data").textContent);
const rows = document.querySelectorAll("tbody tr");

const chart = new Chart(find("chart"), (depth) => {
  document.querySelector("tbody .at")?.classList.remove("at");
  if (depth === null) return;
  rows[depth].classList.add("at");
  const [, , share, cumulative] = rows[depth].cells;
  find("readout").innerHTML = `<b>Depth ${depth}: ${states(search.counts[depth])}</b>, ${share.textContent}; cumulative share ${cumulative.textContent}`;
});
chart.show(search.counts, search.mean_depth);
find("scale").addEventListener("change", (event) => chart.scale(event.target.value === "log"));
// On paper every board is there.
addEventListener("beforeprint", () => {
  for (const more of document.querySelectorAll("details")) more.open = true;
  chart.draw(680);
});
addEventListener("afterprint", () => chart.draw());
