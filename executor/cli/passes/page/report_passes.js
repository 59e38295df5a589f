
// What is known of a node, the passes, and the placement.
function linkTo(name, open, label) {
  const known = after.byName.has(name) || before.byName.has(name);
  if (!known) return make("span", "mono", label || cut(name, 120));
  const e = make("a", "mono", label || cut(name, 120));
  e.href = "#" + encodeURIComponent(cut(name, 2000));
  e.title = cut(name, 500);
  e.onclick = event => { event.preventDefault(); open(name); };
  return e;
}

const row = (name, ...content) => make("div", "field", make("div", "soft", name), make("div", "", ...content));
function listOf(items, most, render) {
  const box = make("div", "list", ...items.slice(0, most).map(render));
  if (items.length > most) {
    const more = button(`and ${(items.length - most).toLocaleString("en")} more`, "Show more", () => { more.remove(); box.append(...items.slice(most, most + 500).map(render)); }, "more");
    box.append(more);
  }
  return box;
}

function describeNode(node, open) {
  const now = after.byName.get(node.name) || node, parts = [];
  parts.push(make("h2", "", now.op), make("div", "mono name", cut(node.name, 600)));
  if (node.change && node.change !== "") parts.push(make("div", node.change === "gone" ? "gone" : "new", { new: "made by the optimizer", gone: "not in the optimized graph", changed: "changed by the optimizer" }[node.change]));
  const inputs = now.from;
  if (inputs.length) parts.push(row("inputs", listOf(inputs, 12, i => make("div", "", linkTo(i.node.name, open), i.control ? " (control)" : i.port ? `:${i.port}` : "", " ", make("span", "soft mono", i.control ? "" : i.node.types?.[i.port] || "")))));
  if (now.types?.length) parts.push(row("outputs", listOf(now.types, 12, (type, i) => make("div", "mono", type, " ", make("span", "soft", showBytes(now.bytes[i]))))));
  if (now.readers.length) parts.push(row("read by", listOf([...new Set(now.readers)], 12, r => make("div", "", linkTo(r.name, open)))));
  const time = timesByNode.get(now.name);
  if (time) parts.push(row("time", make("div", "", `${showUs(time.p50_us)} a run, ${percent(time.thread_share)} of the steps' time`), make("div", "soft", `estimated ${showUs(time.estimate_us)}`)));
  if (now.on) parts.push(row("device", make("div", "", make("span", "mono", now.on), ` by ${now.why}`), ...(now.rejected.length ? [make("div", "soft", "not on"), ...now.rejected.map(text => make("div", "soft", text))] : []),
    ...now.copies.map(c => make("div", "", `copies ${cut(c.tensor, 60)} from ${c.from} ${showBytes(c.bytes)}`))));
  if (node.device) parts.push(row("asks for", make("span", "mono", node.device)));
  if (now.origins) {
    const others = now.origins.filter(n => n !== now.name);
    if (others.length) parts.push(row("made from", listOf(others, 12, n => make("div", "", linkTo(n, open)))));
    if (now.rewrites.length) parts.push(row("by", listOf(now.rewrites, 12, n => make("div", "mono", n))));
  }
  if (node.change === "gone") {
    const became = after.all.filter(n => n.origins?.includes(node.name));
    parts.push(row("went to", became.length ? listOf(became, 12, n => make("div", "", linkTo(n.name, open))) : "nothing"));
  }
  const attrs = Object.entries(now.attrs);
  if (attrs.length) parts.push(make("h3", "", "Attributes"), ...attrs.map(([name, text]) => row(cut(name, 80), make("span", "mono", text))));
  const old = before.byName.get(node.name);
  if (node.change === "changed" && old) parts.push(make("h3", "", "In the file"), row("op", make("span", "mono", old.op)), row("inputs", listOf(old.inputs, 12, i => make("div", "mono", cut(i, 120)))));
  return parts;
}

const nodeOf = tensor => tensor.replace(/:\d+$/, "");

// Shown where no node is chosen.
function describeModel(open) {
  const counts = new Map(), arguments_ = [], results = [];
  for (const n of after.graph.nodes) {
    counts.set(n.op, (counts.get(n.op) || 0) + 1);
    if (/^Placeholder/.test(n.op)) arguments_.push(n);
    if (n.readers.length === 0 && n.types?.length) results.push(n);
  }
  const typed = n => make("div", "", linkTo(n.name, open), " ", make("span", "soft mono", n.types?.[0] || ""));
  const ops = [...counts].sort((a, b) => b[1] - a[1]), most = ops.length ? ops[0][1] : 1;
  const parts = [make("h2", "", "Model")];
  if (arguments_.length) parts.push(row("inputs", listOf(arguments_, 8, typed)));
  const named = (data.results || []).map(r => ({ name: r.name, tensor: r.tensor.replace(/^\^/, "") })).filter(r => after.byName.has(nodeOf(r.tensor)));
  if (named.length) {
    parts.push(row("results", listOf(named, 8, r => make("div", "", linkTo(nodeOf(r.tensor), open, cut(r.name, 60)), " ",
      make("span", "soft mono", after.byName.get(nodeOf(r.tensor)).types?.[+(r.tensor.match(/:(\d+)$/)?.[1] ?? 0)] || "")))));
  } else if (results.length) {
    parts.push(row("results", listOf(results, 8, typed)));
  }
  parts.push(make("h3", "", "Ops"), listOf(ops, 14, ([op, n]) => {
    const fill = make("i", "coloured");
    fill.style.setProperty("--hue", kindOf(op)[1]);
    fill.style.width = Math.max(1, 100 * n / most) + "%";
    return make("div", "op-row", make("span", "", cut(op, 40)), make("span", "gauge", fill), make("span", "num", n));
  }));
  return parts;
}

// A table whose columns sort. `columns`: {name, get, show, num}; `get` gives what is sorted.
function tableOf(columns, rows, most = 200) {
  let by = -1, down = true, shown = most;
  const head = make("tr"), body = make("tbody"), foot = make("div", "soft tail");
  const draw = () => {
    const sorted = by < 0 ? rows : [...rows].sort((a, b) => {
      const x = columns[by].get(a), y = columns[by].get(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    body.replaceChildren(...sorted.slice(0, shown).map(r => make("tr", "", ...columns.map(c => make("td", c.num ? "num" : c.wrap ? "wrap" : "", c.show ? c.show(r) : c.get(r))))));
    foot.replaceChildren(rows.length > shown ? button(`${(rows.length - shown).toLocaleString("en")} more rows`, "Show more rows", () => { shown += 1000; draw(); }, "more") : "");
    [...head.children].forEach((th, i) => th.setAttribute("aria-sort", i === by ? (down ? "descending" : "ascending") : "none"));
  };
  columns.forEach((c, i) => {
    const th = make("th", c.num ? "num" : "", button(c.name, "Sort by this column", () => { down = by === i ? !down : Boolean(c.num); by = i; draw(); }));
    head.append(th);
  });
  draw();
  return make("div", "table-box", make("table", "", make("thead", "", head), body), foot);
}

function passesTab(open) {
  const box = make("section", "text-tab"), list = make("div", "card passes"), changesBox = make("div", "card changes");
  const left = [...data.changes];
  const changesOf = pass => {
    const i = left.findIndex(c => c.pass === pass.name && c.iteration === pass.iteration && c.function === (pass.function || "") && c.changed === pass.changed);
    return i < 0 ? undefined : left.splice(i, 1)[0];
  };
  const ran = data.passes.filter(p => !p.skipped), total = Math.max(1, ran.reduce((sum, p) => sum + p.time_us, 0));
  const rewritesOf = pass => Object.entries(pass.rewrites).map(([k, v]) => `${k} ${v}`).join(", ");
  let at = 0, chosen = null, first = null;
  const idle = [];
  for (const pass of data.passes) {
    if (pass.skipped) { idle.push(make("div", "idle-row", make("span", "", titleOf(pass)), make("span", "soft", "skipped: " + pass.reason))); continue; }
    const start = at, changes = changesOf(pass);
    at += pass.time_us;
    if (!pass.changed && !pass.failed) { idle.push(make("div", "idle-row", make("span", "", titleOf(pass)), make("span", "soft", `nothing to do, ${showUs(pass.time_us)}`))); continue; }
    const fill = make("div", "fill");
    fill.style.left = 100 * start / total + "%";
    fill.style.width = 100 * pass.time_us / total + "%";
    const delta = pass.nodes_after - pass.nodes_before;
    const e = make("button", "pass" + (pass.failed ? " failed" : ""), make("span", "", make("b", "", titleOf(pass)), make("span", "soft rewrites", pass.failed ? pass.reason : rewritesOf(pass))),
      make("span", "track", fill), make("span", "num soft", showUs(pass.time_us)), make("span", "num", pass.failed ? "rolled back" : delta ? `${delta > 0 ? "+" : "−"}${Math.abs(delta)} nodes` : "changed"));
    e.type = "button";
    e.onclick = () => { chosen?.classList.remove("on"); chosen = e; e.classList.add("on"); show(pass, changes); };
    list.append(e);
    first ||= e;
  }
  if (!first) list.append(make("div", "soft", "No pass changed the graph."));
  function titleOf(pass) { return pass.name + (pass.iteration ? `, round ${pass.iteration + 1}` : "") + (pass.function ? ` in ${cut(pass.function, 60)}` : ""); }
  function show(pass, changes) {
    changesBox.replaceChildren(make("h3", "", titleOf(pass)), make("div", "soft", pass.failed ? `Rolled back: ${pass.reason}` : rewritesOf(pass)));
    if (!changes) return;
    const line = (cls, sign, text, name) => { const e = make("div", cls + " diff", sign + " " + text); e.onclick = () => open(name); e.title = "Show in the graph"; return e; };
    changesBox.append(listOf(changes.list, 60, c => make("div", "change", c.before ? line("gone", "−", c.before, c.name) : "", c.after ? line("new", "+", c.after, c.name) : "")));
    if (changes.count > changes.list.length) changesBox.append(make("div", "soft", `and ${plural(changes.count - changes.list.length, "node")} more`));
  }
  box.append(list);
  if (idle.length) {
    const skipped = data.passes.length - ran.length, parts = [];
    if (idle.length > skipped) parts.push(`${plural(idle.length - skipped, "pass run")} changed nothing`);
    if (skipped) parts.push(`${plural(skipped, "pass run")} ${skipped === 1 ? "was" : "were"} skipped`);
    const details = make("details", "card", make("summary", "", parts.join(", ")), ...idle);
    box.append(details);
  }
  box.append(changesBox);
  if (first) first.onclick();
  return box;
}

// Sentences that codes of placement stand for.
function placementTab(open) {
  const nodes = after.graph.nodes.filter(n => n.on), box = make("section", "text-tab");
  const devices = new Map();
  for (const n of nodes) {
    const d = devices.get(n.on) || devices.set(n.on, { count: 0, us: 0, why: new Map(), ops: new Map() }).get(n.on);
    d.count += 1;
    d.us += n.us || 0;
    d.why.set(n.why, (d.why.get(n.why) || 0) + 1);
    d.ops.set(n.op, (d.ops.get(n.op) || 0) + 1);
  }
  const copies = nodes.flatMap(n => n.copies), bytes = copies.reduce((sum, c) => sum + Math.max(0, c.bytes), 0);
  const cards = [...devices].sort((a, b) => b[1].count - a[1].count).map(([name, d]) => {
    const dot = make("i", "coloured dot");
    dot.style.setProperty("--hue", deviceColours.get(name));
    const sorted = map => [...map].sort((a, b) => b[1] - a[1]);
    return make("div", "card", make("h3", "", dot, name), make("div", "", `${plural(d.count, "node")}${d.us ? ", " + showUs(d.us) + " a run" : ""}`),
      make("div", "soft", sorted(d.ops).slice(0, 8).map(([op, n]) => `${op} ${n}`).join(", ")),
      ...sorted(d.why).map(([why, n]) => make("div", "", make("b", "mono", why), ` ${n}: ${data.reasons[why] || ""}`)));
  });
  box.append(make("div", "cards", ...cards));
  box.append(make("div", "soft gap", copies.length ? `${plural(copies.length, "copy").replace("copys", "copies")} between devices, ${showBytes(bytes)} of known size` : "No copies between devices."));
  box.append(make("div", "card", tableOf([
    { name: "node", get: n => n.name, show: n => linkTo(n.name, open, cutFront(n.name, 60)) }, { name: "op", get: n => n.op, show: n => cut(n.op, 40) },
    { name: "device", get: n => n.on }, { name: "reason", get: n => n.why },
    { name: "not elsewhere, because", wrap: true, get: n => n.rejected.join("; "), show: n => make("span", "soft", cut(n.rejected.join("; "), 240)) },
    { name: "copies in", num: true, get: n => n.copies.reduce((sum, c) => sum + Math.max(1, c.bytes), 0), show: n => n.copies.map(c => showBytes(c.bytes) || "?").join(", ") },
  ], nodes, 100)));
  return box;
}
