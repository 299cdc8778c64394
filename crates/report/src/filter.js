(() => {
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll("table.claims tr[data-status]")];
  const groups = [...document.querySelectorAll("table.claims tbody")];
  const apply = () => {
    const { status, paper } = form.elements;
    for (const row of rows) {
      const group = row.parentElement;
      row.hidden =
        (status.value !== "" && row.dataset.status !== status.value) ||
        (paper.value !== "" && group.dataset.paper !== paper.value);
    }
    for (const group of groups) group.hidden = !group.querySelector("tr[data-status]:not([hidden])");
    const shown = rows.filter((row) => !row.hidden).length;
    form.querySelector("output").value = `${shown} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
})();
