const drag = { strip: null, x: 0, from: 0, moved: false, length: 0 };
const scrub = (event) => seek(timeAt(event.clientX - axis.canvas.getBoundingClientRect().left, axis.width));
const startDrag = (strip, event) => {
  if (event.button) return;
  Object.assign(drag, { strip, x: event.clientX, from: shown.from, moved: false, length: shown.to - shown.from });
  strip.canvas.setPointerCapture(event.pointerId);
};
const moveDrag = (event) => {
  const by = event.clientX - drag.x;
  if (Math.abs(by) > 3) drag.moved = true;
  if (!drag.moved) return;
  const from = drag.from - (by / drag.strip.width) * drag.length;
  show(from, from + drag.length);
};
strips.forEach((strip) => {
  const at = (event) => {
    const box = strip.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  strip.canvas.addEventListener("pointerdown", (event) => startDrag(strip, event));
  strip.canvas.addEventListener("pointermove", (event) => {
    if (drag.strip) { moveDrag(event); return; }
    const number = cueAt(strip, ...at(event));
    strip.canvas.style.cursor = number === null ? "default" : "pointer";
    tell("hover", number, event.clientX, strip.canvas.getBoundingClientRect());
  });
  strip.canvas.addEventListener("pointerleave", () => tell("hover", null));
  strip.canvas.addEventListener("pointerup", (event) => {
    const { moved } = drag;
    drag.strip = null;
    if (moved) return;
    const number = cueAt(strip, ...at(event));
    if (number === null) seek(timeAt(at(event)[0], strip.width)); else go(number);
  });
  strip.canvas.addEventListener("dblclick", (event) => {
    const number = cueAt(strip, ...at(event));
    if (number !== null) loop(number);
  });
  strip.list.addEventListener("keydown", (event) => {
    const last = strip.order.length - 1;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    let goal = step ? strip.at + step : { Home: 0, End: last }[event.key];
    while (step && goal >= 0 && goal <= last && !isShown(strip, strip.order[goal])) goal += step;
    if (event.key === "Enter" && strip.at >= 0) go(strip.order[strip.at]);
    else if (goal === undefined) return;
    else if (goal >= 0 && goal <= last) {
      choose(strip.order[goal]);
      bringIntoView(startOf(chosen));
      drawAll();
      tell("focused", chosen, strip);
    }
    event.preventDefault();
    event.stopPropagation();
  });
  strip.list.addEventListener("blur", () => tell("hover", null));
  const slider = strip.box.querySelector("input[type=range]");
  slider.addEventListener("input", () => {
    strip.least = Number(slider.value) / 100;
    strip.box.querySelector("output").textContent = `≥ ${score(strip.least)}`;
    const left = strip.order.filter((number) => isShown(strip, number)).length;
    strip.box.querySelector(".shown").textContent = left === strip.order.length ? left : `${left} of ${strip.order.length}`;
    redraw();
    tell("filtered");
  });
});
waves.forEach((wave) => {
  wave.canvas.addEventListener("pointerdown", (event) => startDrag(wave, event));
  wave.canvas.addEventListener("pointermove", (event) => { if (drag.strip) moveDrag(event); });
  wave.canvas.addEventListener("pointerup", (event) => {
    drag.strip = null;
    if (!drag.moved) seek(timeAt(event.clientX - wave.canvas.getBoundingClientRect().left, wave.width));
  });
});
axis.canvas.addEventListener("pointerdown", (event) => {
  axis.canvas.setPointerCapture(event.pointerId);
  scrub(event);
});
axis.canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) scrub(event); });
find("lanes").addEventListener("wheel", (event) => {
  const box = axis.canvas.getBoundingClientRect();
  const length = shown.to - shown.from;
  if (event.ctrlKey || event.metaKey) {
    zoom(1.0015 ** -event.deltaY, timeAt(event.clientX - box.left, axis.width));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = ((event.deltaX || event.deltaY) / axis.width) * length;
    show(shown.from + by, shown.to + by);
  } else return;
  event.preventDefault();
}, { passive: false });
find("pan").addEventListener("input", () => {
  const length = shown.to - shown.from;
  const from = (find("pan").value / 1000) * (data.extent_s - length);
  show(from, from + length);
});
find("zoom-in").addEventListener("click", () => zoom(2));
find("zoom-out").addEventListener("click", () => zoom(0.5));
find("zoom-fit").addEventListener("click", () => show(0, data.extent_s));
find("loop").addEventListener("click", () => { if (looped !== null) loop(looped); else if (chosen !== null) loop(chosen); });
on("time", () => {
  if (player && !player.paused && (time > shown.to || time < shown.from)) bringIntoView(time);
  placePlayhead();
});
