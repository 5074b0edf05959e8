/* Filters workloads by verdict and by words, and opens the one that a link points to. */
{
  const all = [...document.querySelectorAll("details.workload")];
  const bar = document.createElement("div");
  bar.className = "filter";
  bar.innerHTML = '<label><input type="checkbox"> not valid only</label> <label>Search <input type="search" placeholder="workload or word"></label> <span role="status"></span>';
  const [only, search, count] = bar.querySelectorAll("input, span");
  const sift = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const workload of all) {
      const text = words.length ? workload.textContent.toLowerCase() : "";
      const fits = (!only.checked || workload.dataset.verdict !== "valid") && words.every((word) => text.includes(word));
      workload.hidden = !fits;
    }
    const shown = all.filter((workload) => !workload.hidden).length;
    count.textContent = shown < all.length ? `${shown} of ${all.length} workloads` : "";
  };
  only.addEventListener("change", sift);
  search.addEventListener("input", sift);
  if (all.length > 1) all[0].closest("section").before(bar);

  const unfold = (hash) => {
    for (let at = document.getElementById(hash.slice(1)); at; at = at.parentElement) {
      at.hidden = false;
      if (at.tagName === "DETAILS") at.open = true;
    }
  };
  addEventListener("hashchange", () => unfold(location.hash));
  /* A link to the current address fires no hashchange event. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold(link.hash);
  });
  unfold(location.hash);
}
