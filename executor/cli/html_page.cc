#include "executor/cli/html_page.h"

namespace tenon::cli {

std::string_view HtmlPageBegin() {
  return R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Optimizer report</title>
<style>
  :root { --ink: #1c2430; --soft: #68748a; --line: #dde3ec; --page: #f6f8fb; --card: #fff;
          --accent: #2f6fde; --gone: #b3402e; --new: #22773f; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e4e9f2; --soft: #93a0b8; --line: #303a4c; --page: #12161d; --card: #1a2029;
            --accent: #7aa7ff; --gone: #ff8d78; --new: #6fd391; } }
  body { margin: 0 auto; max-width: 1400px; padding: 24px; background: var(--page); color: var(--ink);
         font: 14px/1.45 system-ui, sans-serif; }
  h1 { font-size: 20px; margin: 0 0 4px; } h2 { font-size: 15px; margin: 28px 0 8px; }
  .soft { color: var(--soft); } .gone { color: var(--gone); } .new { color: var(--new); }
  .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
  .pass { display: grid; grid-template-columns: 240px 1fr 90px 110px; gap: 12px; align-items: center;
          padding: 4px 8px; border-radius: 6px; cursor: pointer; }
  .pass:hover, .pass.on { background: var(--page); }
  .track { position: relative; height: 14px; }
  .bar { position: absolute; height: 14px; min-width: 3px; background: var(--accent); border-radius: 3px; }
  .pass.idle .bar { opacity: .35; } .pass.failed .bar { background: var(--gone); }
  .num { text-align: right; font-variant-numeric: tabular-nums; }
  pre { margin: 0; font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
  #changes { max-height: 320px; overflow: auto; margin-top: 8px; }
  .graphs { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; }
  .graph svg { width: 100%; height: 520px; cursor: grab; touch-action: none; }
  input { width: 100%; box-sizing: border-box; padding: 7px 10px; border: 1px solid var(--line);
          border-radius: 6px; background: var(--card); color: inherit; font: inherit; }
  .node rect { fill: var(--card); stroke: var(--line); } .node { cursor: pointer; }
  .node.changed rect { stroke: var(--accent); stroke-width: 1.6; } .node.gone rect { stroke: var(--gone); }
  .node.new rect { stroke: var(--new); stroke-width: 1.6; } .node.focus rect { stroke-width: 3; }
  .node text { fill: var(--ink); font-size: 11px; } .node .name { fill: var(--soft); font-size: 9px; }
  .edge { stroke: var(--soft); fill: none; opacity: .6; } .edge.control { stroke-dasharray: 4 3; }
  #detail { min-height: 84px; margin-top: 12px; }
</style>
</head>
<body>
<h1 id="title"></h1>
<div class="soft" id="summary"></div>
<h2>Passes</h2>
<div class="card"><div id="timeline"></div></div>
<div class="card" id="changes"><span class="soft">Choose a pass to see what it changed.</span></div>
<h2>Graphs</h2>
<input id="search" list="names" placeholder="Search a node by name or op" aria-label="Search a node">
<datalist id="names"></datalist>
<div class="card" id="detail"><span class="soft">Choose a node.</span></div>
<h2></h2>
<div class="graphs">
  <div class="card graph"><b>before</b> <span class="soft" id="before-note"></span><svg id="before"></svg></div>
  <div class="card graph"><b>after</b> <span class="soft" id="after-note"></span><svg id="after"></svg></div>
</div>
<script id="data" type="application/json">)html";
}

std::string_view HtmlPageEnd() {
  return R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const make = (tag, text, cls) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const svgMake = (tag, attrs) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  return e;
};

// A graph with its nodes by name, and who uses whom.
function index(graph) {
  const byName = new Map(), users = new Map();
  for (const n of graph.nodes) byName.set(n.name, n);
  for (const n of graph.nodes) {
    n.from = n.inputs.map(i => ({ name: i.replace(/^\^/, "").replace(/:\d+$/, ""), control: i[0] === "^" }))
                     .filter(i => byName.has(i.name));
    for (const i of n.from) (users.get(i.name) || users.set(i.name, []).get(i.name)).push(n.name);
  }
  return { graph, byName, users };
}
const before = index(data.before), after = index(data.after);

// The passes on one line of time.
get("title").textContent = data.title;
const ran = data.passes.filter(p => !p.skipped);
const total = Math.max(1, ran.reduce((sum, p) => sum + p.time_us, 0));
get("summary").textContent = `${data.before.count} nodes became ${data.after.count} in ${(total / 1000).toFixed(2)} ms, ` +
  `${ran.filter(p => p.changed).length} of ${ran.length} pass runs changed the graph`;
const changesOf = pass => {
  const i = data.changes.findIndex(c => c.pass === pass.name && c.iteration === pass.iteration &&
                                        c.function === (pass.function || ""));
  return i < 0 ? undefined : data.changes.splice(i, 1)[0];
};
let at = 0;
ran.forEach(pass => {
  const row = make("div", undefined, "pass" + (pass.changed ? "" : " idle") + (pass.failed ? " failed" : ""));
  row.append(make("span", pass.name + (pass.iteration ? `, round ${pass.iteration + 1}` : "") +
                          (pass.function ? ` in ${pass.function}` : "")));
  const track = make("div", undefined, "track"), bar = make("div", undefined, "bar");
  bar.style.left = 100 * at / total + "%";
  bar.style.width = 100 * pass.time_us / total + "%";
  at += pass.time_us;
  track.append(bar);
  const delta = pass.nodes_after - pass.nodes_before;
  row.append(track, make("span", (pass.time_us / 1000).toFixed(2) + " ms", "num soft"),
             make("span", delta ? (delta > 0 ? "+" : "") + delta + " nodes" : pass.changed ? "changed" : "", "num"));
  row.title = Object.entries(pass.rewrites).map(([k, v]) => `${k} ${v}`).join(", ") || pass.reason || "nothing to do";
  const changes = changesOf(pass);
  row.onclick = () => showChanges(row, pass, changes);
  get("timeline").append(row);
});

function showChanges(row, pass, changes) {
  document.querySelectorAll(".pass.on").forEach(e => e.classList.remove("on"));
  row.classList.add("on");
  const box = get("changes");
  box.replaceChildren(make("div", `${pass.name}, round ${pass.iteration + 1}: ` + row.title));
  if (!changes) return;
  for (const c of changes.list) {
    const pre = make("pre");
    if (c.before) pre.append(make("span", "- " + c.before + "\n", "gone"));
    if (c.after) pre.append(make("span", "+ " + c.after, "new"));
    pre.onclick = () => focus(c.name);
    box.append(pre);
  }
  if (changes.count > changes.list.length)
    box.append(make("div", `and ${changes.count - changes.list.length} more`, "soft"));
}

// What differs decides on colours.
function kind(side, name) {
  const a = before.byName.get(name), b = after.byName.get(name);
  if (!a) return "new";
  if (!b) return "gone";
  return a.op === b.op && a.inputs.join() === b.inputs.join() ? "" : "changed";
}

// The nodes around one, nearest first.
function around(side, name, most) {
  const found = new Set([name]), queue = [name];
  for (const at of queue) {
    const next = side.byName.get(at).from.map(i => i.name).concat(side.users.get(at) || []);
    for (const other of next) {
      if (found.size >= most) return found;
      if (!found.has(other)) { found.add(other); queue.push(other); }
    }
  }
  return found;
}

// Layers by longest path, in each the order of the mean of the inputs.
function layout(side, names) {
  const layer = new Map(), visiting = new Set();
  const order = [];
  for (const root of names) {
    const stack = [root];
    while (stack.length) {
      const name = stack[stack.length - 1];
      if (layer.has(name)) { stack.pop(); continue; }
      const open = side.byName.get(name).from.map(i => i.name)
        .filter(i => names.has(i) && !layer.has(i) && !visiting.has(i));
      if (open.length && !visiting.has(name)) { visiting.add(name); stack.push(...open); continue; }
      stack.pop();
      const depths = side.byName.get(name).from.map(i => layer.get(i.name)).filter(d => d !== undefined);
      layer.set(name, depths.length ? Math.max(...depths) + 1 : 0);
      order.push(name);
    }
  }
  const rows = [], x = new Map();
  for (const name of order) (rows[layer.get(name)] ||= []).push(name);
  rows.forEach((row, r) => {
    const want = name => {
      const xs = side.byName.get(name).from.map(i => x.get(i.name)).filter(v => v !== undefined);
      return xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : 0;
    };
    row.map(name => [want(name), name]).sort((a, b) => a[0] - b[0])
       .forEach(([, name], i) => x.set(name, (i - (row.length - 1) / 2) * 170));
  });
  return new Map(order.map(name => [name, { x: x.get(name), y: layer.get(name) * 64 }]));
}

const kMostDrawn = 120;
function draw(id, side, name) {
  const svg = get(id);
  svg.replaceChildren();
  if (!side.byName.size) return;
  const center = side.byName.has(name) ? name : side.graph.nodes[side.graph.nodes.length - 1].name;
  const names = around(side, center, kMostDrawn), place = layout(side, names);
  get(id + "-note").textContent = names.size < side.graph.count
    ? `${names.size} of ${side.graph.count} nodes, those around ${center}` : `${side.graph.count} nodes`;
  for (const [n, p] of place) {
    for (const i of side.byName.get(n).from) {
      const q = place.get(i.name);
      if (!q) continue;
      svg.append(svgMake("path", { class: "edge" + (i.control ? " control" : ""),
        d: `M${q.x},${q.y + 34} C${q.x},${q.y + 52} ${p.x},${p.y - 18} ${p.x},${p.y}` }));
    }
  }
  for (const [n, p] of place) {
    const g = svgMake("g", { class: `node ${kind(side, n)}${n === name ? " focus" : ""}`,
                             transform: `translate(${p.x - 75},${p.y})` });
    g.append(svgMake("rect", { width: 150, height: 34, rx: 6 }));
    const op = svgMake("text", { x: 75, y: 14, "text-anchor": "middle" });
    op.textContent = side.byName.get(n).op;
    const label = svgMake("text", { class: "name", x: 75, y: 27, "text-anchor": "middle" });
    label.textContent = n.length > 28 ? "…" + n.slice(-27) : n;
    const tip = svgMake("title", {});
    tip.textContent = side.byName.get(n).text;
    g.append(op, label, tip);
    g.onclick = () => focus(n);
    svg.append(g);
  }
  const c = place.get(center);
  let view = { x: c.x - 320, y: c.y - 260, w: 640, h: 520 };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  show();
  svg.onwheel = e => {
    e.preventDefault();
    const f = e.deltaY > 0 ? 1.15 : 1 / 1.15;
    view = { x: view.x + view.w * (1 - f) / 2, y: view.y + view.h * (1 - f) / 2, w: view.w * f, h: view.h * f };
    show();
  };
  svg.onpointerdown = e => { if (e.target === svg) svg.setPointerCapture(e.pointerId); };
  svg.onpointermove = e => {
    if (!svg.hasPointerCapture(e.pointerId)) return;
    const scale = view.w / svg.clientWidth;
    view.x -= e.movementX * scale;
    view.y -= e.movementY * scale;
    show();
  };
}

// Shows a node, and in the other graph what it came from or went into.
function focus(name) {
  const a = before.byName.get(name), b = after.byName.get(name);
  const became = a ? data.after.nodes.filter(n => n.origins.includes(name)).map(n => n.name) : [];
  const box = get("detail");
  box.replaceChildren(make("b", name));
  const pre = make("pre");
  if (a) pre.append(make("span", "before  " + a.text + "\n"));
  if (b) pre.append(make("span", "after   " + b.text + "\n"));
  if (b) pre.append(make("span", "from    " + b.origins.join(", ") + "\nby      " + (b.rewrites.join(", ") || "nothing") + "\n"));
  if (a && !b) pre.append(make("span", "went to " + (became.join(", ") || "nothing") + "\n"));
  box.append(pre);
  draw("before", before, a ? name : (b && b.origins[0]));
  draw("after", after, b ? name : became[0]);
}

for (const n of new Set([...before.byName.keys(), ...after.byName.keys()])) {
  const option = make("option");
  option.value = n;
  get("names").append(option);
}
get("search").oninput = e => {
  const text = e.target.value;
  if (before.byName.has(text) || after.byName.has(text)) return focus(text);
  const word = text.toLowerCase();
  const hit = word && [...data.after.nodes, ...data.before.nodes].find(
    n => n.name.toLowerCase().includes(word) || n.op.toLowerCase().includes(word));
  if (hit) focus(hit.name);
};
draw("before", before);
draw("after", after);
const linked = decodeURIComponent(location.hash.slice(1));  // report.html#node
if (before.byName.has(linked) || after.byName.has(linked)) focus(linked);
</script>
</body>
</html>
)html";
}

}  // namespace tenon::cli
