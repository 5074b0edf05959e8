/* Shows the text of a chart's mark next to the pointer, the finger or the keyboard focus. Arrow keys
   go from mark to mark. Without this script a browser shows the same texts as titles. */
{
  const REACH = 14;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  document.body.append(tip);
  let shown = null;
  let keyed = false;

  const hide = () => {
    shown?.classList.remove("on");
    shown = null;
    tip.classList.remove("seen");
    tip.textContent = "";
  };
  const show = (mark, x, y) => {
    keyed = false;
    if (mark !== shown) {
      hide();
      shown = mark;
      mark.classList.add("on");
      tip.textContent = mark.dataset.about;
      tip.classList.add("seen");
    }
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(x + 12, document.documentElement.clientWidth - width - 4);
    const top = y - height - 12;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${top < 4 ? y + 20 : top}px`;
  };

  for (const chart of document.querySelectorAll("figure svg[role=img]")) {
    const marks = [...chart.querySelectorAll(".mark")];
    if (!marks.length) continue;
    /* A browser shows titles on its own, so these become names and data. */
    const title = chart.querySelector(":scope > title");
    chart.setAttribute("aria-label", title.textContent);
    chart.removeAttribute("aria-labelledby");
    title.remove();
    const boxes = marks.map((mark) => {
      const inner = mark.querySelector("title");
      mark.dataset.about = inner.textContent;
      inner.remove();
      const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(mark.getAttribute(name)));
      return { mark, x, y, w, h };
    });
    /* The smallest mark under that place, of equal ones the nearest; else the nearest within reach. */
    const find = (event) => {
      const frame = chart.getBoundingClientRect();
      const scale = chart.viewBox.baseVal.width / frame.width;
      const [x, y] = [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
      let best = null;
      for (const b of boxes) {
        const out = Math.max(b.x - x, x - b.x - b.w, b.y - y, y - b.y - b.h, 0);
        if (out > REACH) continue;
        const rank = [out, b.w * b.h, Math.hypot(b.x + b.w / 2 - x, b.y + b.h / 2 - y)];
        const at = best ? rank.findIndex((value, i) => value !== best.rank[i]) : 0;
        if (!best || (at >= 0 && rank[at] < best.rank[at])) best = { mark: b.mark, rank };
      }
      return best?.mark;
    };
    const follow = (event) => {
      const mark = find(event);
      if (mark) show(mark, event.clientX, event.clientY);
      else if (!keyed) hide();
    };
    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", follow);
    chart.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !keyed && hide());

    let at = 0;
    const go = (to) => {
      at = (to + marks.length) % marks.length;
      const box = marks[at].getBoundingClientRect();
      show(marks[at], box.left + box.width / 2, box.top);
      keyed = true;
    };
    chart.tabIndex = 0;
    chart.addEventListener("focus", () => chart.matches(":focus-visible") && go(at));
    chart.addEventListener("blur", () => chart.contains(shown) && hide());
    chart.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      go(shown || to === 0 || event.key === "End" ? to : at);
    });
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => event.target.closest("figure svg") || hide());
  document.addEventListener("scroll", () => keyed || hide(), { passive: true });
}
