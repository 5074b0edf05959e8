"use strict";
/* Sorts a table by the column whose head is pressed. The page is whole without it. */
for (const table of document.querySelectorAll("table:not(.host)")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.title = head.title || "Sort by this column";
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[at].firstChild ? row.cells[at].textContent.trim() : "";
      const number = (text) => parseFloat(text.replace(/[  ](?=\d)/g, ""));
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const [u, v] = [number(x), number(y)];
        if (Number.isNaN(u) !== Number.isNaN(v)) return Number.isNaN(u) ? 1 : -1;
        const order = Number.isNaN(u) ? x.localeCompare(y) : u - v;
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
