/* Shows the workloads that are not all valid, or that hold a word; opens the one that a link names. */
{
  const all = [...document.querySelectorAll("details.workload")];
  const bar = document.createElement("div");
  bar.className = "filter";
  bar.innerHTML = '<label><input type="checkbox"> not valid only</label> <label>Search <input type="search" placeholder="workload or word"></label>';
  const [only, search] = bar.querySelectorAll("input");
  const sift = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const workload of all) {
      const text = words.length ? workload.textContent.toLowerCase() : "";
      const fits = (!only.checked || workload.dataset.verdict !== "valid") && words.every((word) => text.includes(word));
      workload.hidden = !fits;
    }
  };
  only.addEventListener("change", sift);
  search.addEventListener("input", sift);
  if (all.length > 1) document.querySelector("section.part")?.before(bar);

  const unfold = () => {
    for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
}
