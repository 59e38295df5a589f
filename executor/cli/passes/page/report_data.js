
// What all parts of the page use: the data, the elements of the page, and numbers as text.
const data = JSON.parse(document.getElementById("data").textContent);

// An element. Texts of the model only ever become text nodes or attributes that hold text.
function make(tag, cls, ...content) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  e.append(...content.filter(c => c !== undefined && c !== null && c !== "").map(c => typeof c === "number" ? String(c) : c));
  return e;
}
function svgMake(tag, attrs, ...content) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key in attrs) if (attrs[key] !== undefined) e.setAttribute(key, attrs[key]);
  e.append(...content);
  return e;
}
function button(label, title, onclick, cls) {
  const e = make("button", cls, label);
  e.type = "button";
  e.title = title;
  e.onclick = onclick;
  return e;
}

const cut = (text, most) => text.length > most ? text.slice(0, Math.ceil(most / 2) - 1) + "…" + text.slice(text.length - Math.floor(most / 2)) : text;
const cutFront = (text, most) => text.length > most ? "…" + text.slice(text.length - most + 1) : text;
function showBytes(bytes) {
  if (!(bytes >= 0)) return "";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let u = 0;
  while (bytes >= 1000 && u < 4) { bytes /= 1000; ++u; }
  return (u && bytes < 100 ? bytes.toFixed(bytes < 10 ? 2 : 1) : bytes.toFixed(0)) + " " + units[u];
}
function showUs(us) {
  if (!(us >= 0)) return "";
  if (us >= 1e6) return (us / 1e6).toFixed(2) + " s";
  if (us >= 1e3) return (us / 1e3).toFixed(us < 1e5 ? 2 : 0) + " ms";
  return us.toFixed(us < 10 ? 2 : us < 100 ? 1 : 0) + " µs";
}
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : /[sx]$/.test(word) ? "es" : "s"}`;
const percent = share => (100 * share).toFixed(1) + " %";

// Parts of a name that differ between graphs: "f:x" is node x in the body of f.
const timesByNode = new Map((data.times?.nodes || []).map(row => [row.name, row]));
const totalUs = (data.times?.nodes || []).reduce((sum, row) => sum + row.p50_us, 0);

// A graph with its nodes by name, edges from producers to readers, and the readers of each node.
function indexGraph(graph) {
  const all = graph.nodes.concat(graph.bodies), byName = new Map(all.map(n => [n.name, n]));
  const local = new Set(graph.nodes);
  for (const n of all) {
    const colon = local.has(n) ? -1 : n.name.indexOf(":");
    n.body = colon < 0 ? "" : n.name.slice(0, colon);
    n.local = n.name.slice(colon + 1);
    n.readers = [];
    n.us = timesByNode.get(n.name)?.p50_us;
  }
  for (const n of all) {
    n.from = [];
    for (const input of n.inputs) {
      const control = input[0] === "^";
      let name = control ? input.slice(1) : input, port = 0;
      if (!control && !byName.has(name)) {
        const colon = name.lastIndexOf(":");
        port = Number(name.slice(colon + 1));
        name = name.slice(0, colon);
      }
      const node = byName.get(name);
      if (!node) continue;
      n.from.push({ node, port, control });
      node.readers.push(n);
    }
  }
  const onlyItsValueIsRead = n => n.readers.length > 0 && n.readers.every(r => r.from.every(i => i.node !== n || !i.control));
  for (const n of all) n.inside = n.op === "Const" && n.from.length === 0 && onlyItsValueIsRead(n);
  // As frozen models read their variables.
  for (const n of all) n.inside ||= n.op === "Identity" && n.from.length === 1 && n.from[0].node.inside && onlyItsValueIsRead(n);
  return { graph, all, byName };
}
const before = indexGraph(data.before), after = indexGraph(data.after);

// How a node differs from that of its name in the other graph.
for (const n of after.all) {
  const old = before.byName.get(n.name);
  n.change = !old ? "new" : old.op === n.op && old.inputs.join() === n.inputs.join() ? "" : "changed";
}
for (const n of before.all) n.change = after.byName.has(n.name) ? after.byName.get(n.name).change : "gone";

// Kinds of ops that share a colour, as people who draw networks expect them.
const opKinds = [
  ["input and output", 215, /^(Placeholder|_Arg|_Retval|_FeedDevice|_Fetch|Iterator|.*Dataset)/],
  ["constant", 45, /^(Const|VarHandleOp|Variable|VariableV2|ReadVariableOp|HostConst)$/],
  ["product", 205, /(MatMul|Einsum|LSTM|GRU|Attention|BatchMatMul)/i],
  ["convolution", 235, /(Conv|Winograd)/],
  ["normalization", 150, /(Norm|Softmax|LRN|L2Loss)/],
  ["activation", 0, /(Relu|Elu|Selu|Gelu|Sigmoid|Tanh|Softplus|Swish|Erf$)/],
  ["pooling, reduction", 170, /(Pool|^Sum$|^Mean$|^Max$|^Min$|^Prod$|Arg(Max|Min)|^All$|^Any$|TopK|Cumsum)/],
  ["shape, movement", 265, /(Reshape|Transpose|Shape|Slice|Concat|Pack|Unpack|Split|Squeeze|ExpandDims|Tile|Pad|Gather|Identity|Cast|Fill|Range|Resize|Stitch|Where|Reverse|Scatter|OneHot)/],
  ["control, state", 320, /(If$|While|Case|Switch|Merge|Enter|Exit|NextIteration|Call|NoOp|Assert|LoopCond|Assign|Table|Queue|TensorList|TensorArray|Stack)/],
  ["arithmetic", 95, /./],
];
const kindOf = op => opKinds.find(([, , pattern]) => pattern.test(op)) || opKinds.at(-1);

// The order in which nodes can run, inputs first and close to their readers. Edges that close a
// loop are passed over.
function topological(nodes) {
  const seen = new Set(), order = [];
  for (const root of nodes) {
    if (seen.has(root)) continue;
    seen.add(root);
    const stack = [{ node: root, next: 0 }];
    while (stack.length) {
      const top = stack.at(-1);
      if (top.next === top.node.from.length) {
        order.push(stack.pop().node);
        continue;
      }
      const input = top.node.from[top.next++].node;
      if (seen.has(input)) continue;
      seen.add(input);
      stack.push({ node: input, next: 0 });
    }
  }
  return order;
}

const plain = text => text.toLowerCase();
const onPhone = () => innerWidth < 760;
