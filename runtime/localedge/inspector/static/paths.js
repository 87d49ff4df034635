/** "/path?query" of a URL; what is none (a cron) stays as it is. */
export function pathOf(url) {
  if (!url?.includes("//")) return url ?? "";
  const at = url.indexOf("/", url.indexOf("//") + 2);
  return at < 0 ? "/" : url.slice(at);
}
