/* Marks the visible part in the contents, and opens folded parts for printing. */
{
  const links = [...document.querySelectorAll("nav a")];
  const parts = [...new Set(links.map((link) => link.hash))]
    .map((hash) => document.getElementById(hash.slice(1)))
    .filter(Boolean);
  const side = document.querySelector("nav .side");
  let now = null;
  const mark = () => {
    let last = parts[0];
    for (const part of parts) if (part.getBoundingClientRect().top < innerHeight / 4) last = part;
    if (last === now) return;
    now = last;
    for (const link of links) {
      if (link.hash === `#${now.id}`) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
    const link = side.querySelector("[aria-current]");
    const [inner, outer] = [link?.getBoundingClientRect(), side.getBoundingClientRect()];
    if (link && (inner.top < outer.top || inner.bottom > outer.bottom)) side.scrollTop += inner.top - outer.top - outer.height / 3;
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon, { passive: true });
  mark();
  const top = document.querySelector("nav .top");
  top.addEventListener("click", (event) => event.target.closest("a") && (top.open = false));
  /* While open, it would cover the next element that gets the focus. */
  top.addEventListener("focusout", (event) => event.relatedTarget && !top.contains(event.relatedTarget) && (top.open = false));

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.paper:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
}
