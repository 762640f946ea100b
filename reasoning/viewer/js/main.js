const tabs = [...document.querySelectorAll("[role=tab]")];
const showTab = (tab, focus = false) => {
  tabs.forEach((each) => {
    const isMine = each === tab;
    each.setAttribute("aria-selected", String(isMine));
    each.tabIndex = isMine ? 0 : -1;
    find(each.getAttribute("aria-controls")).classList.toggle("away", !isMine);
  });
  if (focus) tab.focus();
};
tabs.forEach((tab, place) => {
  tab.addEventListener("click", () => showTab(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    showTab(tabs[(place + step + tabs.length) % tabs.length], true);
  });
});
showTab(["tab-study", "tab-answer", "tab-prompt", "tab-cue"].map(find).find(Boolean));

const legend = find("legend");
const entry = (kind, words) => {
  const made = element("span", words, "entry");
  made.prepend(element("i", undefined, kind));
  return made;
};
if (data.blocks.length) legend.append(entry("in", "in the prompt"), entry("out", "left out"));

const focusLane = (place) => {
  const strip = strips[place];
  if (!strip) return;
  strip.list.focus();
  strip.list.scrollIntoView({ block: "nearest" });
};
const laneBy = (step) => {
  const at = strips.findIndex((strip) => strip.list === document.activeElement);
  focusLane(at < 0 ? (step > 0 ? 0 : strips.length - 1) : Math.max(0, Math.min(at + step, strips.length - 1)));
};
const keys = {
  " ": togglePlaying,
  k: togglePlaying,
  j: () => seek(time - 5),
  l: () => seek(time + 5),
  ArrowLeft: () => seek(time - 1),
  ArrowRight: () => seek(time + 1),
  ArrowUp: () => laneBy(-1),
  ArrowDown: () => laneBy(1),
  ",": () => stepFrame(-1),
  ".": () => stepFrame(1),
  "+": () => zoom(2),
  "=": () => zoom(2),
  "-": () => zoom(0.5),
  0: () => show(0, data.extent_s),
  r: () => find("loop").click(),
  s: () => find("show-people").click(),
  t: () => find("show-texts").click(),
  y: () => mark("right"),
  n: () => mark("wrong"),
  w: markWatermark,
  u: undo,
  Escape: hideCard,
};
for (let place = 1; place <= 9; place += 1) keys[place] = () => focusLane(place - 1);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const isPressed = event.target.closest("button, a, summary, video, audio, [role=button]");
  if (isPressed && [" ", "Enter", "ArrowUp", "ArrowDown"].includes(event.key)) return;
  const scrolls = event.target === player || event.target.className === "beside";
  if (scrolls && event.key.startsWith("Arrow")) return;
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const refresh = () => { readColours(); drawAll(); drawOverlay(); };
addEventListener("resize", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
matchMedia("print").addEventListener("change", refresh);
let closed = [];
const beforePrint = () => {
  document.documentElement.classList.add("printed");
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((each) => { each.open = true; });
  refresh();
};
addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printed");
  closed.forEach((each) => { each.open = false; });
  refresh();
});
if (player) new ResizeObserver(drawOverlay).observe(player);
new ResizeObserver(redraw).observe(find("lanes"));
show(0, data.extent_s);
readColours();
drawAll();
setTime(0);
performance.mark("cuelight-drawn");
globalThis.cuelight = {
  seek,
  choose: (id) => go(numberOf.get(id)),
  state: () => ({ time, shown: { ...shown }, block, chosen: chosen === null ? null : cues[chosen].id, looped, over: { ...over } }),
  placeOf: (id) => {
    const number = numberOf.get(id);
    const strip = stripWith(number);
    const place = placeIn(strip, number);
    const box = strip.canvas.getBoundingClientRect();
    return place && { left: box.left + place.x, top: box.top + place.y, width: place.width, height: barHeight(strip.rowPx) };
  },
  isDrawn: (id) => {
    const number = numberOf.get(id);
    return isShown(stripWith(number), number);
  },
};
