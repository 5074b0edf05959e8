"use strict";
/* Sorts a table by the column whose head is pressed: up, down, and as it was. The page is complete without this script. */
{
  /* Factors of units next to a number; a unit in the head applies to the whole column. */
  const steps = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
    Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 };
  const times = { ns: 1e-9, us: 1e-6, "µs": 1e-6, "μs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };
  const worth = (unit) => {
    if (Object.hasOwn(times, unit)) return times[unit];
    const parts = /^([kKMGTP]i?)(?:B|bit|FLOP|op|Hz|IOPS)/.exec(unit);
    return parts ? steps[parts[1]] ?? 1 : 1;
  };
  /* The number that a cell begins with, its groups of digits joined; NaN where there is none. A time
     may go on in smaller units. */
  const number = (text) => {
    const parts = /^[^\d\w−-]*([−-]?)(\d[\d\u00a0\u202f]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-zµμ]*)/i.exec(text);
    if (!parts) return NaN;
    const size = parseFloat(parts[2].replace(/[\u00a0\u202f]/g, ""));
    const rest = Object.hasOwn(times, parts[3]) ? text.slice(parts[0].length).matchAll(/^ (\d+(?:\.\d+)?) (ms|s|min|h)\b/g) : [];
    const more = [...rest].reduce((sum, [, value, unit]) => sum + value * times[unit], 0);
    return (parts[1] ? -1 : 1) * (size * worth(parts[3]) + more);
  };
  const text = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("sup").forEach((note) => note.remove());
    return copy.textContent.trim();
  };
  for (const table of document.querySelectorAll("table:not(.host)")) {
    const [body, heads] = [table.tBodies[0], [...table.tHead.rows[0].cells]];
    const first = [...body.rows];
    if (first.length < 2) continue;
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.title = head.title || "Sort by this column";
      head.removeAttribute("title");
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        heads.forEach((h) => h.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", next);
        const keys = new Map(first.map((row) => [row, text(row.cells[at])]));
        const values = new Map(first.map((row) => [row, number(keys.get(row))]));
        const order = (a, b) => {
          const [u, v] = [values.get(a), values.get(b)];
          /* Missing values stay at the end in both orders. */
          if (Number.isNaN(u) !== Number.isNaN(v)) return Number.isNaN(u) ? 1 : -1;
          const up = Number.isNaN(u) ? keys.get(a).localeCompare(keys.get(b)) : u - v;
          return next === "descending" ? -up : up;
        };
        body.append(...(next === "none" ? first : [...first].sort(order)));
      });
    });
  }
}
