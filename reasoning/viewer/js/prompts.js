const panels = [...document.querySelectorAll(".block")];
const linesOf = new Map();

panels.forEach((panel) => {
  panel.querySelectorAll(".line.linked").forEach((line) => {
    const numbers = line.dataset.cues.split(" ").map(Number);
    const key = (number) => `${panel.dataset.block}/${number}`;
    numbers.forEach((number) => linesOf.set(key(number), line));
    line.addEventListener("click", () => go(numbers[0]));
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      go(numbers[0]);
    });
    ["mouseenter", "focus"].forEach((what) => line.addEventListener(what, () => light(numbers)));
    ["mouseleave", "blur"].forEach((what) => line.addEventListener(what, () => light([])));
  });
});
on("linked", (number) => {
  document.querySelectorAll(".line.lit").forEach((line) => line.classList.remove("lit"));
  const line = linesOf.get(`${block}/${number ?? chosen}`);
  if (!line) return;
  line.classList.add("lit");
  const room = find("panel-prompt");
  if (room.offsetParent === null) return;
  const [inner, outer] = [line.getBoundingClientRect(), room.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) room.scrollTop += inner.top - outer.top - 40;
});

const showBlock = (number) => {
  block = number;
  panels.forEach((panel) => { panel.hidden = Number(panel.dataset.block) !== number; });
  tell("block");
  if (chosen !== null) tell("chosen", chosen);
  redraw();
};
if (find("choose-question")) {
  const [question, policy] = [find("choose-question"), find("choose-policy")];
  const options = (select, values) => select.replaceChildren(...values.map((value) => {
    const made = element("option", value);
    made.value = value;
    return made;
  }));
  const policies = () => {
    const before = policy.value;
    const mine = panels.filter((panel) => panel.dataset.question === question.value);
    options(policy, mine.map((panel) => panel.dataset.policy));
    if (mine.some((panel) => panel.dataset.policy === before)) policy.value = before;
    follow();
  };
  const follow = () => {
    const panel = panels.find((each) => each.dataset.question === question.value && each.dataset.policy === policy.value);
    if (panel) showBlock(Number(panel.dataset.block));
  };
  options(question, [...new Set(panels.map((panel) => panel.dataset.question))]);
  question.addEventListener("change", policies);
  policy.addEventListener("change", follow);
  policies();
}
