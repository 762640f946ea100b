const card = find("card");

/** What a cue says, and why it was left out, as nodes. */
const headed = (number) => {
  const [state, why] = stateOf(number);
  const title = element("div", undefined, "title");
  title.append(isolated(textOf(number)));
  return why ? [title, element("div", state === "dropped" ? `Left out: ${why}` : why, "why")] : [title];
};
/** All else that is known of a cue. */
const described = (number) => {
  const cue = cues[number];
  const lane = data.lanes[cue.lane];
  const list = element("dl");
  const add = (what, value) => {
    const says = element("dd");
    says.append(isolated(value));
    list.append(element("dt", what), says);
  };
  add("when", whenOf(number));
  add("confidence", score(cue.confidence));
  if (cue.calibrated !== null) add("calibrated", percent(cue.calibrated));
  const others = othersOf(number).map(([label, share]) => `${label} ${score(share)}`);
  if (others.length) add("alternatives", others.join(", "));
  [...detailsOf(number), ...lane.details].forEach(([what, value]) => add(what, value));
  add("lane", lane.label);
  return list;
};
const hideCard = () => { card.hidden = true; };
/** Beside the box {left, top, bottom}, where there is room. */
const showCard = (number, box) => {
  card.replaceChildren(...headed(number), described(number));
  card.hidden = false;
  const { clientWidth, clientHeight } = document.documentElement;
  const within = (place, size, room) => Math.max(8, Math.min(place, room - size - 8));
  const below = box.bottom + 8;
  const above = box.top - card.offsetHeight - 8;
  const top = below + card.offsetHeight + 8 <= clientHeight || above < 8 ? below : above;
  card.style.left = `${within(box.left, card.offsetWidth, clientWidth)}px`;
  card.style.top = `${within(top, card.offsetHeight, clientHeight)}px`;
};

let hovered = null;
on("hover", (number, x, box) => {
  if (number === hovered && number !== null) return;
  hovered = number;
  light(number === null ? [] : [number]);
  tell("linked", number);
  const isBeside = number === chosen && find("panel-cue").offsetParent !== null;
  if (number === null || isBeside) { hideCard(); return; }
  showCard(number, { left: x + 12, top: box.top, bottom: box.bottom });
});
on("focused", (number, strip) => {
  const place = placeIn(strip, number);
  const box = strip.canvas.getBoundingClientRect();
  tell("linked", number);
  if (place) showCard(number, { left: box.left + Math.max(0, place.x), top: box.top + place.y, bottom: box.top + place.y + strip.rowPx });
});
on("chosen", (number) => {
  find("chosen").replaceChildren(...headed(number));
  find("known").replaceChildren(described(number));
  tell("linked", number);
});

/** Buttons that stand for a cue: the lists beside the answer, the tables. */
const linkCue = (button) => {
  const number = Number(button.dataset.cue);
  const beside = () => { light([number]); showCard(number, button.getBoundingClientRect()); };
  const away = () => { light([]); hideCard(); };
  button.addEventListener("click", () => go(number));
  button.addEventListener("mouseenter", beside);
  button.addEventListener("mouseleave", away);
  button.addEventListener("focus", () => { if (button.matches(":focus-visible")) beside(); });
  button.addEventListener("blur", away);
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".all [data-cue], .dropped [data-cue]");
  if (button) go(Number(button.dataset.cue));
});
document.querySelectorAll(".chip[data-cue]").forEach(linkCue);
