"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const player = find("player");
  const canvas = find("canvas");
  const playhead = find("playhead");
  const card = find("card");
  const spans = new Map();
  const lines = new Map();
  const kinds = { ArrowLeft: -1, ArrowRight: 1 };

  const clock = (seconds) => {
    const tenths = Math.floor(seconds * 10 + 0.5);
    const whole = Math.floor(tenths / 10);
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    const head = hours ? `${hours}:${two(minutes)}` : `${minutes}`;
    return `${head}:${two(whole % 60)}.${tenths % 10}`;
  };

  // Players do not subtract the time at which the container starts; every time on this page does.
  let time = 0;
  const seek = (seconds) => {
    time = Math.max(0, Math.min(seconds, data.extent_s));
    if (player) player.currentTime = time + data.start_s;
    draw();
  };
  const draw = () => {
    const strip = find("axis").querySelector(".strip");
    playhead.style.left = `${strip.offsetLeft + (strip.offsetWidth * time) / data.extent_s}px`;
    find("now").textContent = clock(time);
  };
  // A label that would leave the axis stands left of its tick; where labels would touch, only
  // every second, third … is shown.
  const label = () => {
    const room = find("axis").querySelector(".strip").clientWidth;
    const marks = [...document.querySelectorAll(".tick")];
    marks.forEach((tick) => tick.classList.remove("end", "bare"));
    const boxes = marks.map((tick) => {
      const isEnd = tick.offsetLeft + tick.offsetWidth > room;
      const left = tick.offsetLeft - (isEnd ? tick.offsetWidth : 0);
      return { isEnd, left, right: left + tick.offsetWidth + 4 };
    });
    const touch = (step) => boxes.some((box, place) =>
      place % step === 0 && place >= step && box.left < boxes[place - step].right);
    let step = 1;
    while (touch(step)) step += 1;
    marks.forEach((tick, place) => {
      tick.classList.toggle("end", boxes[place].isEnd);
      tick.classList.toggle("bare", place % step !== 0);
    });
  };
  if (player) {
    const follow = () => {
      time = Math.max(0, player.currentTime - data.start_s);
      draw();
      if (!player.paused) requestAnimationFrame(follow);
    };
    ["play", "timeupdate", "seeked"].forEach((name) => player.addEventListener(name, follow));
    player.addEventListener("loadedmetadata", () => {
      if (data.start_s && time === 0) player.currentTime = data.start_s;
    });
    player.addEventListener("error", () => { find("unplayable").hidden = false; });
    if (player.error) find("unplayable").hidden = false;
  }

  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.textContent = text;
    return made;
  };
  const show = (number, at) => {
    const cue = data.cues[number];
    const list = document.createElement("dl");
    const add = (name, value) => list.append(element("dt", name), element("dd", value));
    add("when", cue.when);
    add("confidence", cue.confidence);
    if (cue.alternatives.length) {
      add("alternatives", cue.alternatives.map((pair) => pair.join(" ")).join(", "));
    }
    cue.details.forEach(([name, value]) => add(name, value));
    add("lane", cue.lane);
    const title = document.createElement("bdi");
    title.append(element("div", cue.text, "title"));
    card.replaceChildren(title);
    if (cue.why) card.append(element("div", cue.state === "dropped" ? `Left out: ${cue.why}` : cue.why, "why"));
    card.append(list);
    card.hidden = false;
    const box = at.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const within = (place, size, room) => Math.max(8, Math.min(place, room - size - 8));
    const below = box.bottom + 8;
    const above = box.top - card.offsetHeight - 8;
    const top = below + card.offsetHeight + 8 <= clientHeight || above < 8 ? below : above;
    card.style.left = `${within(box.left, card.offsetWidth, clientWidth)}px`;
    card.style.top = `${within(top, card.offsetHeight, clientHeight)}px`;
    light([number], true);
  };
  const hide = () => {
    card.hidden = true;
    document.querySelectorAll(".lit").forEach((each) => each.classList.remove("lit"));
  };
  const light = (numbers, on) => numbers.forEach((number) => {
    [spans.get(number), lines.get(number)].forEach((each) => each && each.classList.toggle("lit", on));
  });

  document.querySelectorAll(".span").forEach((span) => spans.set(Number(span.dataset.cue), span));
  document.querySelectorAll("[data-cue]").forEach((button) => {
    const number = Number(button.dataset.cue);
    button.addEventListener("click", () => seek(data.cues[number].start_s));
    button.addEventListener("mouseenter", () => show(number, button));
    button.addEventListener("mouseleave", hide);
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) show(number, button); });
    button.addEventListener("blur", hide);
  });
  document.querySelectorAll(".line.linked").forEach((line) => {
    const numbers = line.dataset.cues.split(" ").map(Number);
    numbers.forEach((number) => lines.set(number, line));
    const go = () => seek(data.cues[numbers[0]].start_s);
    line.addEventListener("click", go);
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); go(); }
    });
    line.addEventListener("mouseenter", () => light(numbers, true));
    line.addEventListener("mouseleave", () => light(numbers, false));
    line.addEventListener("focus", () => light(numbers, true));
    line.addEventListener("blur", () => light(numbers, false));
  });

  // One stop of the Tab key per lane; the arrow keys move within it.
  document.querySelectorAll(".lane").forEach((lane) => {
    const inLane = [...lane.querySelectorAll(".span")]
      .sort((a, b) => data.cues[a.dataset.cue].start_s - data.cues[b.dataset.cue].start_s);
    inLane.forEach((span, place) => {
      span.tabIndex = place ? -1 : 0;
      span.addEventListener("keydown", (event) => {
        const goal = { ...kinds, Home: -place, End: inLane.length - 1 - place }[event.key];
        if (goal === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        const next = inLane[place + goal];
        if (!next) return;
        span.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      });
    });
  });

  find("axis").addEventListener("click", (event) => {
    const strip = find("axis").querySelector(".strip").getBoundingClientRect();
    seek(((event.clientX - strip.left) / strip.width) * data.extent_s);
  });
  let zoom = 1;
  const zoomTo = (next) => {
    zoom = Math.max(1, Math.min(next, 256));
    canvas.style.setProperty("--zoom", zoom);
    draw();
    label();
    const scroll = find("scroll");
    scroll.scrollLeft = playhead.offsetLeft - scroll.clientWidth / 2;
  };
  find("zoom-in").addEventListener("click", () => zoomTo(zoom * 2));
  find("zoom-out").addEventListener("click", () => zoomTo(zoom / 2));
  find("zoom-fit").addEventListener("click", () => zoomTo(1));

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    if (event.target.closest("button, a, summary, video, audio, [role=button]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && player) {
      event.preventDefault();
      if (player.paused) player.play(); else player.pause();
    } else if (event.key in kinds) {
      event.preventDefault();
      seek(time + kinds[event.key]);
    }
  });
  addEventListener("resize", () => { draw(); label(); });
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
  });
  draw();
  label();
})();
