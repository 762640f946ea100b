"use strict";
const page = JSON.parse(document.getElementById("document").textContent);
const list = document.getElementById("answers");
const [condition, show] = ["condition", "show"].map((id) => document.getElementById(id));
const trouble = document.getElementById("trouble");
const store = `cuelight-tags-${page.key}`;
const name = (key) => JSON.stringify(key);
const tags = new Map();
const cards = new Map();

const complain = (words) => { trouble.textContent = words; trouble.hidden = !words; };
const make = (kind, words, className) => {
  const made = document.createElement(kind);
  if (words) made.textContent = words;
  if (className) made.className = className;
  return made;
};

for (const answer of page.answers) if (answer.given.length) tags.set(name(answer.key), answer.given);
try {
  for (const [key, kept] of JSON.parse(localStorage.getItem(store) ?? "[]")) tags.set(key, kept);
} catch { complain("This browser keeps no tags for this page; download them before you leave."); }

function keep() {
  try { localStorage.setItem(store, JSON.stringify([...tags])); }
  catch { complain("This browser keeps no tags for this page; download them before you leave."); }
  refresh();
}

function chosen(card) {
  const known = [...card.querySelectorAll("input[type=checkbox]")].filter((box) => box.checked).map((box) => box.value);
  const own = card.querySelector(".own").value.split(";").map((tag) => tag.trim()).filter(Boolean);
  return [...new Set([...known, ...own])];
}

function fill(card, kept) {
  for (const box of card.querySelectorAll("input[type=checkbox]")) box.checked = kept.includes(box.value);
  card.querySelector(".own").value = kept.filter((tag) => !page.tags.includes(tag)).join("; ");
}

function card(answer, number) {
  const made = make("section", "", "answer");
  made.tabIndex = 0;
  const [where, model, question, repeat] = answer.key;
  const about = [where, model, answer.category, answer.video, question, repeat ? `repeat ${repeat}` : ""];
  made.append(make("h2", `${number}. ${about.filter(Boolean).join(" · ")}`));
  const facts = make("dl");
  const rows = [["Question", answer.asked], ["Reference", answer.reference], ["Answer", answer.answer || "(empty)"],
    ["Judge", answer.reason], ["Cues", answer.cues.join(" · ")]];
  for (const [what, words] of rows) if (words) facts.append(make("dt", what), make("dd", words, what === "Answer" ? "said" : ""));
  const group = make("fieldset", "", "tags");
  page.tags.forEach((tag, at) => {
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.value = tag;
    label.append(box, ` ${at + 1} ${tag}`);
    group.append(label);
  });
  const own = make("input", "", "own");
  own.placeholder = "own tags; parted by semicolons";
  own.setAttribute("aria-label", "Own tags");
  group.append(own);
  made.append(facts, group);
  made.addEventListener("change", () => {
    const found = chosen(made);
    if (found.length) tags.set(name(answer.key), found); else tags.delete(name(answer.key));
    keep();
  });
  made.addEventListener("keydown", (event) => {
    if (event.target === own || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = made.querySelectorAll("input[type=checkbox]")[Number(event.key) - 1];
    if (box) { box.click(); event.preventDefault(); }
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step) return;
    let next = made[step];
    while (next?.hidden) next = next[step];
    if (next?.classList.contains("answer")) { next.focus(); event.preventDefault(); }
  });
  return made;
}

function refresh() {
  let done = 0;
  page.answers.forEach((answer) => {
    const made = cards.get(name(answer.key));
    const tagged = tags.has(name(answer.key));
    done += tagged;
    made.classList.toggle("tagged", tagged);
    const wanted = show.value === "all" || (show.value === "done") === tagged;
    const busy = made.contains(document.activeElement);
    made.hidden = !busy && (!wanted || (condition.value && condition.value !== answer.key[0]));
  });
  document.getElementById("progress").textContent = `${done} of ${page.answers.length} tagged`;
}

/** As perception/spreadsheet.py: no cell is a formula to a spreadsheet, and what `inert` was given. */
const inert = (cell) => /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
const said = (cell) => /^''*[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
const quoted = (cell) => /[",\n\r\t;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

function download() {
  const lines = [page.columns, ...page.answers.map(({ key }) => [...key, (tags.get(name(key)) ?? []).join("; ")])];
  const text = lines.map((line) => line.map((cell) => quoted(inert(String(cell)))).join(",")).join("\r\n") + "\r\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${page.name.replace(/[^\w.-]+/g, "_")}.tags.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function parse(text) {
  const head = text.split("\n", 1)[0];
  const delimiter = [",", ";", "\t"].sort((one, other) => head.split(other).length - head.split(one).length)[0];
  const lines = [[""]];
  let inside = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    const line = lines.at(-1);
    if (inside && sign === '"' && text[at + 1] === '"') { line[line.length - 1] += '"'; at += 1; }
    else if (sign === '"') inside = !inside;
    else if (!inside && sign === delimiter) line.push("");
    else if (!inside && sign === "\n") lines.push([""]);
    else if (inside || sign !== "\r") line[line.length - 1] += sign;
  }
  return lines.filter((line) => line.length > 1).map((line) => line.map(said));
}

async function load(file) {
  const [head, ...lines] = parse((await file.text()).replace(/^\ufeff/, ""));
  const places = page.columns.map((column) => head?.indexOf(column) ?? -1);
  if (places.includes(-1)) { complain(`${file.name} lacks one of the columns ${page.columns.join(", ")}.`); return; }
  let found = 0;
  for (const line of lines) {
    const [where, model, question, repeat, given] = places.map((place) => line[place] ?? "");
    const key = name([where, model, question, Number(repeat || 0)]);
    const kept = given.split(";").map((tag) => tag.trim()).filter(Boolean);
    if (!cards.has(key) || !kept.length) continue;
    tags.set(key, kept);
    fill(cards.get(key), kept);
    found += 1;
  }
  complain(found ? "" : `${file.name} has no tags for these answers.`);
  keep();
}

page.answers.forEach((answer, at) => {
  const made = card(answer, at + 1);
  cards.set(name(answer.key), made);
  fill(made, tags.get(name(answer.key)) ?? []);
  list.append(made);
});
for (const each of new Set(page.answers.map((answer) => answer.key[0]))) {
  const option = make("option", each);
  option.value = each;
  condition.append(option);
}
for (const each of [condition, show]) each.addEventListener("change", refresh);
document.getElementById("download").addEventListener("click", download);
document.getElementById("load").addEventListener("change", (event) => event.target.files[0] && load(event.target.files[0]));
refresh();
