// Ops with regions: reductions, windows, sorts, scatters, loops and branches.
#include "absl/strings/str_cat.h"
#include "executor/stablehlo/builder.h"

namespace tenon::stablehlo {
namespace {

Shape WithoutDims(const Shape& shape, IntSpan dims) {
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    bool dropped = false;
    for (const int64_t d : dims) dropped |= d == i;
    if (!dropped) out.push_back(shape.dim(i));
  }
  return out;
}

int64_t WindowPlaces(int64_t size, const Window& w, int i) {
  const int64_t dilation = w.base_dilation.empty() ? 1 : w.base_dilation[i];
  const int64_t spread = size == 0 ? 0 : (size - 1) * dilation + 1;
  const int64_t room = spread + w.low[i] + w.high[i] - w.size[i];
  return room < 0 ? 0 : room / w.stride[i] + 1;
}

}  // namespace

Values Builder::BeginMany(absl::Span<const Value> types) {
  const int32_t id = next_++;
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  absl::StrAppend(&out_.text, "%", id);
  if (types.size() > 1) absl::StrAppend(&out_.text, ":", types.size());
  Text(" = ");
  Values out;
  for (size_t i = 0; i < types.size(); ++i) {
    Value v;
    v.kind = Value::Kind::kOp;
    v.id = id;
    v.result = types.size() > 1 ? static_cast<int32_t>(i) : -1;
    v.dtype = types[i].dtype;
    v.shape = types[i].shape;
    out.push_back(std::move(v));
  }
  return out;
}

Value Builder::BlockArgument(DataType dtype, const Shape& shape) { return New(dtype, shape); }

void Builder::Return(absl::Span<const Value> values) {
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  Text("stablehlo.return");
  if (!values.empty()) {
    Text(" ");
    Names(values);
    Text(" : ");
    Types(values);
  }
  Note(OpKind::kReturn, "return", values, {});
  End();
}

void Builder::Block(absl::Span<const Value> arguments, Region region) {
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  Text("^bb0(");
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) Text(", ");
    AppendName(arguments[i]);
    Text(": ");
    AppendType(arguments[i]);
  }
  Text("):");
  End();
  ++depth_;
  Return(region(arguments));
  --depth_;
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  Text("})");
}

void Builder::BinaryBlock(std::string_view op, DataType dtype) {
  const Value x = New(dtype, Shape()), y = New(dtype, Shape());
  Block({x, y}, [&](absl::Span<const Value> args) -> Values {
    if (op.empty()) return {args[1]};
    if (op == "GT" || op == "LT") return {Select(Compare(op, args[0], args[1]), args[0], args[1])};
    return {Binary(op, args[0], args[1])};
  });
}

Value Builder::Reduce(std::string_view op, const Value& x, const Value& init, IntSpan dims) {
  if (dims.empty()) return x;
  Value v = Begin(x.dtype, WithoutDims(x.shape, dims));
  Text("stablehlo.reduce(");
  AppendName(x);
  Text(" init: ");
  AppendName(init);
  absl::StrAppend(&out_.text, ") applies stablehlo.", op, " across dimensions = ", List(dims));
  Note(OpKind::kReduce, op, {x, init}, {v}, {dims});
  EndTyped({x, init}, {v});
  return v;
}

Values Builder::ReduceMany(absl::Span<const Value> operands, absl::Span<const Value> inits,
                           IntSpan dims, Region region) {
  Values types, all(operands.begin(), operands.end()), block;
  for (const Value& x : operands)
    types.push_back({.dtype = x.dtype, .shape = WithoutDims(x.shape, dims)});
  all.insert(all.end(), inits.begin(), inits.end());
  Values results = BeginMany(types);
  Text("\"stablehlo.reduce\"(");
  Names(all);
  Text(") ({");
  End();
  for (int side = 0; side < 2; ++side) {
    for (const Value& x : operands) block.push_back(New(x.dtype, Shape()));
  }
  Block(block, region);
  absl::StrAppend(&out_.text, " {dimensions = ", Array(dims), "}");
  Note(OpKind::kReduce, "reduce", all, results, {dims});
  EndTyped(all, results);
  return results;
}

void Builder::WindowAttrs(const Window& w, bool padding) {
  absl::StrAppend(&out_.text, "{window_dimensions = ", Array(w.size),
                  ", window_strides = ", Array(w.stride));
  if (!w.base_dilation.empty())
    absl::StrAppend(&out_.text, ", base_dilations = ", Array(w.base_dilation));
  if (padding) absl::StrAppend(&out_.text, ", padding = ", Pairs(w.low, w.high));
  Text("}");
}

Value Builder::ReduceWindow(std::string_view op, const Value& x, const Value& init,
                            const Window& window) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) shape.push_back(WindowPlaces(x.shape.dim(i), window, i));
  Value v = Begin(x.dtype, shape);
  Text("\"stablehlo.reduce_window\"(");
  Names({x, init});
  Text(") ({");
  End();
  BinaryBlock(op, x.dtype);
  Text(" ");
  WindowAttrs(window, true);
  Note(OpKind::kWindow, "reduce_window", {x, init}, {v},
       {window.size, window.stride, window.low, window.high, window.base_dilation});
  EndTyped({x, init}, {v});
  return v;
}

Value Builder::SelectAndScatter(std::string_view select, const Value& x, const Value& source,
                                const Value& init, const Window& window) {
  Value v = Begin(x.dtype, x.shape);
  Text("\"stablehlo.select_and_scatter\"(");
  Names({x, source, init});
  Text(") ({");
  End();
  const Value a = New(x.dtype, Shape()), b = New(x.dtype, Shape());
  Block({a, b}, [&](absl::Span<const Value> args) -> Values {
    return {Compare(select, args[0], args[1])};
  });
  out_.text.pop_back();
  Text(", {");
  End();
  BinaryBlock("add", x.dtype);
  Text(" ");
  WindowAttrs(window, true);
  Note(OpKind::kWindow, "select_and_scatter", {x, source, init}, {v},
       {window.size, window.stride, window.low, window.high, window.base_dilation});
  EndTyped({x, source, init}, {v});
  return v;
}

Values Builder::Sort(absl::Span<const Value> operands, int64_t dim, Region less) {
  Values results = BeginMany(operands);
  Text("\"stablehlo.sort\"(");
  Names(operands);
  Text(") ({");
  End();
  Values block;
  for (const Value& x : operands) {
    block.push_back(New(x.dtype, Shape()));
    block.push_back(New(x.dtype, Shape()));
  }
  Block(block, less);
  absl::StrAppend(&out_.text, " {dimension = ", dim, " : i64, is_stable = true}");
  Note(OpKind::kSort, "sort", operands, results, {{dim}});
  EndTyped(operands, results);
  return results;
}

Value Builder::Scatter(std::string_view op, const Value& x, const Value& indices,
                       const Value& updates, const ScatterDims& dims) {
  Value v = Begin(x.dtype, x.shape);
  Text("\"stablehlo.scatter\"(");
  Names({x, indices, updates});
  Text(") ({");
  End();
  BinaryBlock(op, x.dtype);
  std::string numbers;
  const auto field = [&numbers](std::string_view name, const Ints& list) {
    if (!list.empty()) absl::StrAppend(&numbers, name, " = ", List(list), ", ");
  };
  field("update_window_dims", dims.update_window_dims);
  field("inserted_window_dims", dims.inserted_window_dims);
  field("scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims);
  absl::StrAppend(
      &out_.text, " {scatter_dimension_numbers = #stablehlo.scatter<", numbers,
      "index_vector_dim = ", dims.index_vector_dim,
      ">, indices_are_sorted = false, unique_indices = ", dims.unique ? "true" : "false", "}");
  Note(OpKind::kOther, absl::StrCat("scatter ", numbers, dims.index_vector_dim, dims.unique),
       {x, indices, updates}, {v});
  EndTyped({x, indices, updates}, {v});
  return v;
}

Lines Builder::InRegion(absl::FunctionRef<void()> write) {
  Lines outer = std::exchange(out_, Lines());
  depth_ += 1;
  write();
  depth_ -= 1;
  return std::exchange(out_, std::move(outer));
}

void Builder::Append(const Lines& lines) {
  out_.text.append(lines.text);
  out_.nodes.insert(out_.nodes.end(), lines.nodes.begin(), lines.nodes.end());
}

Values Builder::While(absl::Span<const Value> init, absl::Span<const Value> carried, Lines cond,
                      Lines body) {
  Values results = BeginMany(carried);
  Text("stablehlo.while(");
  for (size_t i = 0; i < init.size(); ++i) {
    if (i > 0) Text(", ");
    AppendName(carried[i]);
    Text(" = ");
    AppendName(init[i]);
  }
  Text(") : ");
  Types(carried);
  End();
  Line("cond {");
  Append(cond);
  Line("} do {");
  Append(body);
  Note(OpKind::kRegions, "while", init, results);
  Line("}");
  return results;
}

Values Builder::Branch(std::string_view op, const Value& selector, std::vector<Lines> branches,
                       absl::Span<const Value> shapes) {
  Values results = BeginMany(shapes);
  absl::StrAppend(&out_.text, "\"stablehlo.", op, "\"(");
  AppendName(selector);
  Text(") ({");
  End();
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i > 0) Line("}, {");
    Append(branches[i]);
  }
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  Text("})");
  Note(OpKind::kRegions, op, {selector}, results);
  EndTyped({selector}, results);
  return results;
}

}  // namespace tenon::stablehlo
