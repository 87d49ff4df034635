// Runs before the page is drawn: the chosen theme, if one was chosen, else the system's.
(() => {
  try {
    const chosen = localStorage.getItem("localedge.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage may be switched off: the system's theme it is */ }
})();
