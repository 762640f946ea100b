const fit = (strip, height) => {
  const width = strip.canvas.clientWidth || strip.canvas.parentElement.clientWidth;
  const scale = devicePixelRatio || 1;
  if (strip.width !== width || strip.height !== height || strip.scale !== scale) {
    Object.assign(strip, { width, height, scale });
    strip.canvas.style.height = `${height}px`;
    strip.canvas.width = Math.round(width * scale);
    strip.canvas.height = Math.round(height * scale);
  }
  strip.context.setTransform(scale, 0, 0, scale, 0, 0);
  strip.context.clearRect(0, 0, width, height);
};

const STEPS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600];
const drawAxis = () => {
  fit(axis, 26);
  const { context, width } = axis;
  const most = Math.max(2, Math.floor(width / 72));
  const step = STEPS_S.find((each) => (shown.to - shown.from) / each <= most) || 86400 * Math.ceil((shown.to - shown.from) / 86400 / most);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = colours.muted;
  context.strokeStyle = colours.muted;
  const digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
  for (let at = Math.ceil(shown.from / step - 1e-9); at * step <= shown.to + 1e-9; at += 1) {
    const x = Math.min(Math.round(xOf(at * step, width)) + 0.5, width - 0.5);
    const words = clock(at * step, digits);
    const isLast = x + context.measureText(words).width + 4 > width;
    context.beginPath();
    context.moveTo(x, 12);
    context.lineTo(x, 26);
    context.stroke();
    context.textAlign = isLast ? "right" : "left";
    context.fillText(words, isLast ? x - 4 : x + 4, 20);
  }
};

const drawWave = (wave) => {
  fit(wave, WAVE_PX);
  const { context, width, peaks } = wave;
  const count = peaks.length / 2;
  const middle = WAVE_PX / 2;
  context.fillStyle = colours.speech;
  for (let x = 0; x < width; x += 1) {
    const from = Math.floor((timeAt(x, width) - wave.start_s) * wave.rate_hz);
    const to = Math.max(from + 1, Math.floor((timeAt(x + 1, width) - wave.start_s) * wave.rate_hz));
    if (to <= 0 || from >= count) continue;
    let low = 127;
    let high = -127;
    for (let at = Math.max(0, from); at < Math.min(to, count); at += 1) {
      low = Math.min(low, peaks[2 * at]);
      high = Math.max(high, peaks[2 * at + 1]);
    }
    const top = middle - (high / 127) * middle;
    context.fillRect(x, top, 1, Math.max(1, middle - (low / 127) * middle - top));
  }
};

const hatch = (context, x, y, width, height) => {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.globalAlpha = 0.35;
  context.beginPath();
  for (let at = x - height; at < x + width; at += 7) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
};

const drawSpan = (strip, number, x, y, width) => {
  const { context, rowPx, lane } = strip;
  const cue = cues[number];
  const height = barHeight(rowPx);
  const [state] = stateOf(number);
  const isOut = state === "dropped";
  const hue = colours[lane.hue];
  const verdict = corrections.get(number)?.verdict;
  const isFramed = width > 5 && rowPx > 8;
  const ofOut = isFramed ? 0.1 : 0.4;
  context.globalAlpha = isOut ? ofOut : 0.16 + 0.4 * sureness(cue);
  context.fillStyle = isOut ? colours.muted : hue;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = isOut ? colours.muted : hue;
  if (isFramed) {
    context.lineWidth = 1;
    context.setLineDash(isOut ? [4, 3] : []);
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    context.setLineDash([]);
    if (isOut) hatch(context, x, y, width, height);
  }
  if (!isOut) {
    context.fillStyle = hue;
    context.fillRect(x, y, Math.min(3, width), height);
  }
  const visibleX = Math.max(x, 0);
  const room = Math.min(x + width, strip.width) - visibleX - 8;
  if (rowPx >= 12 && room > LABEL_PX - 8) {
    const marks = (verdict === "right" ? "✓ " : verdict === "wrong" ? "✗ " : "") + (state === "unread" ? "◌ " : "");
    const words = marks + (corrections.get(number)?.text ?? cue.short);
    const most = Math.floor(room / 6.4);
    context.fillStyle = isOut ? colours.muted : colours.ink;
    context.font = `${isOut ? "italic " : ""}${Math.min(12.5, rowPx - 4)}px system-ui, sans-serif`;
    const letters = [...words.slice(0, 2 * most + 2)];
    context.fillText(letters.length > most ? `${letters.slice(0, Math.max(1, most - 1)).join("")}…` : words, visibleX + 6, y + height / 2 + 4.5, room + 4);
  } else if (verdict) {
    context.fillStyle = verdict === "right" ? colours.right : colours.wrong;
    context.fillRect(x, y + height - 3, width, 3);
  }
};
const outline = (strip, x, y, width, colour, thick) => {
  strip.context.strokeStyle = colour;
  strip.context.lineWidth = thick;
  strip.context.strokeRect(x, y, width, barHeight(strip.rowPx));
};

const drawLane = (strip) => {
  fit(strip, strip.rows.length * strip.rowPx + 2);
  const { width, rowPx, rows, context } = strip;
  context.textAlign = "left";
  let edge = 0;
  rows.forEach((row, place) => {
    const y = 1 + place * rowPx;
    let first = lastAtMost(shown.from, row.length, (at) => starts[row[at]]);
    first = Math.max(0, first);
    edge = -1;
    for (let at = first; at < row.length; at += 1) {
      const number = row[at];
      if (starts[number] > shown.to) break;
      if (ends[number] < shown.from || !isShown(strip, number)) continue;
      const x = xOf(starts[number], width);
      const end = Math.max(xOf(ends[number], width), x + LEAST_SPAN_PX);
      if (end <= edge + 1) continue;
      const from = Math.max(x, edge);
      drawSpan(strip, number, from, y, Math.max(1, end - from - 1));
      edge = end;
    }
  });
  const marked = [...lit, ...(chosen === null ? [] : [chosen])];
  [...corrections.keys()].forEach((number) => {
    const { start_s, end_s } = corrections.get(number);
    if (start_s !== undefined || end_s !== undefined) {
      const place = placeIn(strip, number);
      if (place) outline(strip, place.x, place.y, place.width, colours.right, 1.5);
    }
  });
  marked.forEach((number) => {
    const place = placeIn(strip, number);
    if (place) outline(strip, place.x, place.y, place.width, number === chosen ? colours.ink : colours.accent, 2);
  });
};

/** Where a cue is drawn in a lane, null where it is not. */
const placeIn = (strip, number) => {
  if (data.lanes[cues[number].lane] !== strip.lane || !isShown(strip, number)) return null;
  const x = xOf(starts[number], strip.width);
  const width = Math.max(LEAST_SPAN_PX, xOf(ends[number], strip.width) - x);
  return { x, y: 1 + rowOf[number] * strip.rowPx, width };
};

const placePlayhead = () => {
  const line = find("playhead");
  const x = xOf(time, axis.width);
  line.hidden = x < 0 || x > axis.width;
  line.style.transform = `translateX(${axis.canvas.offsetLeft + x}px)`;
};
const drawAll = () => {
  dirty = false;
  drawAxis();
  waves.forEach(drawWave);
  strips.forEach(drawLane);
  placePlayhead();
};
const redraw = () => {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(() => { if (dirty) drawAll(); });
};

const show = (from, to) => {
  const length = Math.max(LEAST_VIEW_S, Math.min(to - from, data.extent_s));
  shown.from = Math.max(0, Math.min(from, data.extent_s - length));
  shown.to = shown.from + length;
  const rest = data.extent_s - length;
  find("pan").value = rest > 0 ? (1000 * shown.from) / rest : 0;
  find("pan").disabled = rest <= 1e-9;
  redraw();
};
const zoom = (factor, around = Math.max(shown.from, Math.min(time, shown.to))) => {
  show(around - (around - shown.from) / factor, around + (shown.to - around) / factor);
};
const bringIntoView = (seconds) => {
  const length = shown.to - shown.from;
  if (seconds < shown.from || seconds > shown.to) show(seconds - length / 10, seconds + (9 * length) / 10);
};

/** The cue at a point of a lane; narrow ones are found three pixels around. */
const cueAt = (strip, x, y) => {
  const row = strip.rows[Math.floor((y - 1) / strip.rowPx)];
  if (!row) return null;
  const seconds = timeAt(x, strip.width);
  const at = lastAtMost(seconds, row.length, (each) => starts[row[each]]);
  const near = (3 * (shown.to - shown.from)) / strip.width;
  const hit = [at, at + 1].find((each) => {
    const number = row[each];
    return number !== undefined && isShown(strip, number) && seconds >= starts[number] - near
      && seconds <= Math.max(ends[number], starts[number] + near) + (each === at ? near : 0);
  });
  return hit === undefined ? null : row[hit];
};

const light = (numbers) => {
  lit.clear();
  numbers.forEach((number) => lit.add(number));
  redraw();
};
const labelOf = (number) => {
  const cue = cues[number];
  const [state, why] = stateOf(number);
  const sure = `confidence ${score(cue.confidence)}${cue.calibrated === null ? "" : `, calibrated ${percent(cue.calibrated)}`}`;
  return `${textOf(number)}, ${whenOf(number)}, ${sure}${state === "dropped" ? `, left out: ${why}` : ""}`;
};
const choose = (number) => {
  chosen = number;
  const strip = stripWith(number);
  strip.at = strip.order.indexOf(number);
  const option = strip.box.querySelector(".option");
  option.textContent = labelOf(number);
  option.setAttribute("aria-posinset", strip.at + 1);
  option.setAttribute("aria-setsize", strip.order.length);
  option.setAttribute("aria-selected", "true");
  strip.list.setAttribute("aria-activedescendant", option.id);
  tell("chosen", number);
  redraw();
};
const go = (number) => {
  choose(number);
  seek(startOf(number));
  bringIntoView(startOf(number));
};
