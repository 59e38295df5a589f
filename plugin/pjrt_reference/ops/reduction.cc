// reduce and map.
#include <cstring>

#include "checks.h"
#include "families.h"
#include "region.h"
#include "strided.h"

namespace pjref {
namespace {

Dims Without(const Dims& dims, const Dims& axes) {
  Dims left;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!Contains(axes, static_cast<int64_t>(i))) left.push_back(dims[i]);
  }
  return left;
}

void CheckReduce(const Op& op) {
  const size_t count = op.operands.size() / 2;
  CheckThat(op, count > 0, "expects an operand and its initial value");
  CheckCounts(op, 2 * count, count, 1);
  const Dims axes = op.Integers("dimensions");
  CheckAxes(op, "dimensions", axes, op.operand_types[0].rank());
  std::vector<Type> scalars;
  for (size_t i = 0; i < count; ++i) {
    const Type& type = op.operand_types[i];
    CheckKind(op, type, kAll);
    CheckThat(op, type.dims == op.operand_types[0].dims,
              "expects all inputs to have compatible shapes");
    CheckThat(op, op.operand_types[count + i] == Type({type.element, {}}),
              "the initial value '" + ToString(op.operand_types[count + i]) +
                  "' is no scalar of the operand's type");
    CheckResult(op, i, {type.element, Without(type.dims, axes)});
    scalars.push_back({type.element, {}});
  }
  std::vector<Type> arguments = scalars;
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  CheckRegion(op, 0, arguments, scalars);
}

// `rows` rows of `width` elements.
struct Table {
  Array array;
  int64_t rows, width;

  // Rows from `first` on, every `step`-th.
  Array Rows(int64_t first, int64_t step, int64_t count) const {
    Array out({array.element(), {count * width}});
    const auto size = static_cast<int64_t>(ByteSize(array.element()));
    CopyStrided(array.data() + first * width * size, {step * width, 1}, out.data(), {width, 1},
                {count, width}, ByteSize(array.element()));
    return out;
  }
};

Array Joined(const Array& a, const Array& b) {
  Array out({a.element(), {a.count() + b.count()}});
  std::memcpy(out.data(), a.data(), a.bytes());
  std::memcpy(out.data() + a.bytes(), b.data(), b.bytes());
  return out;
}

// Neighbours are combined in order, so that the tree of sums stays flat and no order is changed.
void Halve(const ElementFunction& body, std::vector<Table>* tables) {
  const int64_t rows = tables->front().rows, width = tables->front().width, pairs = rows / 2;
  std::vector<Array> arguments;
  for (int side : {0, 1}) {
    for (const Table& table : *tables) arguments.push_back(table.Rows(side, 2, pairs));
  }
  const std::vector<Array> made = body.Apply(arguments, pairs * width);
  for (size_t i = 0; i < made.size(); ++i) {
    Table& table = (*tables)[i];
    table.array = rows % 2 ? Joined(made[i], table.Rows(rows - 1, 1, 1)) : made[i];
    table.rows = pairs + rows % 2;
  }
}

Array Converted(const Array& in, Element element) {
  Array out({element, in.dims()});
  const std::vector<double> values = LoadAll<double>(in);
  Store(values.data(), 0, out.count(), out);
  return out;
}

void Reduce(Frame* frame, const Op& op) {
  const ElementFunction body(frame, op.regions[0]);
  const size_t count = op.operands.size() / 2;
  const Dims reduced = op.Integers("dimensions");
  Dims axes = reduced;
  for (int64_t i = 0; i < op.operand_types[0].rank(); ++i) {
    if (!Contains(reduced, i)) axes.push_back(i);
  }
  // Sums and products of 16-bit floats are taken in f32, and rounded once.
  const Element element = op.operand_types[0].element;
  const bool widens = (element == Element::kF16 || element == Element::kBF16) &&
                      (body.OnlyOp() == "stablehlo.add" || body.OnlyOp() == "stablehlo.multiply");
  std::vector<Table> tables;
  std::vector<Array> arguments;
  const int64_t width = op.result_types[0].count();
  for (size_t i = 0; i < count; ++i) {
    Array in = Transposed(frame->In(op, i), axes);
    Array init = Splat(frame->In(op, count + i), {width});
    if (widens) {
      in = Converted(in, Element::kF32);
      init = Converted(init, Element::kF32);
    }
    int64_t rows = 1;
    for (int64_t axis : reduced) rows *= op.operand_types[i].dims[axis];
    tables.push_back({in, rows, width});
    arguments.push_back(init);
  }
  std::vector<Array> results = arguments;
  if (width > 0 && tables[0].rows > 0) {
    while (tables[0].rows > 1) Halve(body, &tables);
    for (const Table& table : tables) arguments.push_back(table.array);
    results = body.Apply(arguments, width);
  }
  for (size_t i = 0; i < count; ++i) {
    if (widens) results[i] = Converted(results[i], element);
    frame->Out(op, i, results[i].WithDims(op.result_types[i].dims));
  }
}

void CheckMap(const Op& op) {
  CheckThat(op, !op.operands.empty(), "expects at least one operand");
  CheckCounts(op, op.operands.size(), 1, 1);
  std::vector<Type> scalars;
  for (const Type& type : op.operand_types) {
    CheckThat(op, type.dims == op.operand_types[0].dims,
              "requires the same shape for all operands");
    scalars.push_back({type.element, {}});
  }
  CheckRegion(op, 0, scalars, {{op.result_types[0].element, {}}});
  CheckResult(op, 0, {op.result_types[0].element, op.operand_types[0].dims});
}

void Map(Frame* frame, const Op& op) {
  std::vector<Array> arguments;
  for (size_t i = 0; i < op.operands.size(); ++i) arguments.push_back(frame->In(op, i));
  const Type& type = op.result_types[0];
  frame->Out(
      op,
      ElementFunction(frame, op.regions[0]).Apply(arguments, type.count())[0].WithDims(type.dims));
}

}  // namespace

const std::vector<OpRow>& ReductionRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.reduce", &CheckReduce, &Reduce, nullptr},
      {"stablehlo.map", &CheckMap, &Map, nullptr},
  };
  return kRows;
}

}  // namespace pjref
