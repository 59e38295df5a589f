// One recipe makes one set of inputs. A value depends on the number of its input and on its
// position alone.

#include "executor/proof/input_sets.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "executor/values/split_mix.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/shapes/old_producers.h"

namespace tenon {
namespace {

constexpr int64_t kUsualSize = -1;  // in a recipe: the one that is asked for

enum class Values : uint8_t { kOrdinary, kZeros, kInfinities, kNan, kExtremes };

struct Recipe {
  std::string_view name;
  Values values;
  int64_t size;
};
constexpr Recipe kRecipes[] = {
    {"ordinary", Values::kOrdinary, kUsualSize},
    {"zeros", Values::kZeros, kUsualSize},
    {"infinities", Values::kInfinities, kUsualSize},
    {"NaN", Values::kNan, kUsualSize},
    {"extremes", Values::kExtremes, kUsualSize},
    {"size 1", Values::kOrdinary, 1},
    {"size 0", Values::kOrdinary, 0},
};

// Corners are sprinkled among ordinary values: one NaN would swallow all that it is added to. The
// first few elements from some place on have one for sure, and of both signs.
constexpr uint64_t kOneIn = 8;

struct Draw {
  uint64_t random;
  uint64_t place;  // of the element, from that place on
  uint64_t kind;   // of the corner, where it is one for sure: neighbours are of different kinds
};

double RealValue(Values values, const Draw& draw, double smallest, double largest) {
  const double usual = cli::UnitOf(draw.random) * 6 - 3;
  const uint64_t more = cli::SplitMix64(draw.random);
  if (values == Values::kOrdinary) return usual;
  // Zeros come as 0, -0 and both denormals, NaN once, infinities and extremes with both signs.
  const uint64_t sure = values == Values::kZeros ? 4 : values == Values::kNan ? 1 : 2;
  const uint64_t kind = draw.place < sure ? draw.kind : more >> 32;
  if (values != Values::kZeros && draw.place >= sure && more % kOneIn != 0) return usual;
  double corner = usual;
  if (values == Values::kZeros) corner = (kind >> 1 & 1) != 0 ? smallest : 0.0;
  if (values == Values::kInfinities) corner = std::numeric_limits<double>::infinity();
  if (values == Values::kNan) corner = std::numeric_limits<double>::quiet_NaN();
  if (values == Values::kExtremes) corner = largest;
  return (kind & 1) != 0 ? -corner : corner;
}

// The smallest denormal and the largest value of a type.
std::pair<double, double> RangeOfFloat(DataType type) {
  switch (type) {
    case DataType::kDouble:
    case DataType::kComplex128:
      return {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()};
    case DataType::kHalf:
      return {0x1p-24, 65504};
    case DataType::kFloat:
    case DataType::kComplex64:
    case DataType::kBfloat16:
      return {std::numeric_limits<float>::denorm_min(), 0x1.fep127};
    default:
      return {0, 1};
  }
}

uint64_t IntegerValue(Values values, const Draw& draw, const cli::IntegerRange& range) {
  const uint64_t random = draw.random;
  const bool corner =
      values == Values::kExtremes && (draw.place == 0 || cli::SplitMix64(random) % kOneIn == 0);
  if (!corner) return values == Values::kZeros ? 0 : random % 3;
  // -1 is a corner of its own: axes and sizes give it a meaning.
  const uint64_t corners[] = {range.hi, static_cast<uint64_t>(range.lo), static_cast<uint64_t>(-1)};
  return corners[random % (range.lo < 0 ? 3 : 2)];
}

absl::StatusOr<Tensor> MakeTensor(DataType type, const Shape& shape, Values values, uint64_t seed) {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  const auto [smallest, largest] = RangeOfFloat(type);
  const auto size = static_cast<uint64_t>(tensor.num_elements());
  for (uint64_t e = 0; e < size; ++e) {
    // By position alone, so that no other element changes a value. The seed turns the places of
    // corners, so that those of two operands do not meet in one element.
    const uint64_t random = cli::SplitMix64(seed + e), place = (e + seed) % size;
    const Draw draw{random, place, place + (seed >> 32)};
    const auto i = static_cast<int64_t>(e);
    if (type == DataType::kString) {
      tensor.SetString(i, random % 3 == 0 ? "" : random % 3 == 1 ? "a" : "Tenon");
    } else if (cli::IsFloatLike(type)) {
      cli::StoreDouble(tensor, i, RealValue(values, draw, smallest, largest));
    } else if (IsComplex(type)) {
      const Draw imaginary{cli::SplitMix64(random), place, draw.kind + 1};
      cli::StoreComplex(tensor, i,
                        {RealValue(values, draw, smallest, largest),
                         RealValue(values, imaginary, smallest, largest)});
    } else if (cli::IsIntegerLike(type)) {
      cli::StoreInt(tensor, i, IntegerValue(values, draw, cli::RangeOf(type)));
    } else {
      cli::StoreInt(tensor, i, random & 1);
    }
  }
  return tensor;
}

struct Input {
  std::string name;
  DataType type;
  PartialShape shape;
};

absl::StatusOr<Input> Describe(const Graph& graph, const std::string& name) {
  const NodeId n = graph.FindNode(name);
  if (n == kNoNode || !IsPlaceholder(graph, n) || !CanMakeUp(graph.output_type({n, 0}))) {
    return absl::UnimplementedError(
        absl::StrCat("no values can be made up for node '", name, "'",
                     n == kNoNode ? "" : absl::StrCat(" (", graph.op_name(n), ")")));
  }
  const AttrValue* shape = graph.attr(n, "shape");
  Input input{name, graph.output_type({n, 0}),
              shape == nullptr ? PartialShape() : shape->AsShape().value_or(PartialShape())};
  if (StandsForAnyShape(graph, n, input.shape)) input.shape = PartialShape();
  return input;
}

bool IsOpen(const PartialShape& shape) { return !shape.ToShape().has_value(); }

Shape WithSizes(const PartialShape& shape, int64_t size) {
  if (!shape.known_rank()) return Shape({size});
  Shape known;
  for (int i = 0; i < shape.rank(); ++i)
    known.push_back(shape.dim(i) == kUnknownDim ? size : shape.dim(i));
  return known;
}

}  // namespace

bool CanMakeUp(DataType type) {
  return cli::IsFloatLike(type) || cli::IsIntegerLike(type) || IsComplex(type) ||
         type == DataType::kBool || type == DataType::kString;
}

absl::StatusOr<Tensor> OrdinaryTensor(DataType type, const Shape& shape, uint64_t seed) {
  return MakeTensor(type, shape, Values::kOrdinary, cli::SplitMix64(seed));
}

absl::StatusOr<std::vector<InputSet>> MakeInputSets(const Graph& graph,
                                                    const std::vector<std::string>& nodes,
                                                    int64_t usual_size) {
  std::vector<Input> inputs;
  bool open = false;
  for (const std::string& name : nodes) {
    TENON_ASSIGN_OR_RETURN(inputs.emplace_back(), Describe(graph, name));
    open |= IsOpen(inputs.back().shape);
  }
  std::vector<InputSet> sets;
  for (const Recipe& recipe : kRecipes) {
    if (inputs.empty() && !sets.empty()) break;  // they would all be the same
    if (recipe.size != kUsualSize && !open) continue;
    InputSet set{std::string(recipe.name), recipe.values == Values::kOrdinary, {}, kMostLoopPasses};
    uint64_t seed = 0;
    for (const Input& input : inputs) {
      const int64_t size = recipe.size == kUsualSize ? usual_size : recipe.size;
      const Shape shape = WithSizes(input.shape, size);
      TENON_ASSIGN_OR_RETURN(Tensor value,
                             MakeTensor(input.type, shape, recipe.values, cli::SplitMix64(++seed)));
      set.feeds.emplace_back(input.name, std::move(value));
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace tenon
