// Ops whose result's size the data tell: Where, Unique, UniqueWithCounts, ListDiff.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

// TensorFlow's CPU has no kernel for half, though it has one for bfloat16.
constexpr uint64_t kWhereTypes =
    (kNumberTypes | TypeBit(DataType::kBool)) & ~TypeBit(DataType::kHalf);

struct WhereState {
  Shape shape;
  DataType type;
};

// The coordinates of elements that are not zero: NaN counts, denormals do not.
template <typename Element>
absl::Status ListNonzero(const WhereState& s, const StepArgs& args, Element element) {
  using T = typename Element::Native;
  const auto is_set = [&](int64_t i) { return element.template As<T>(args.in[0], i) != T(0); };
  // Two passes over the data: the result's size is needed before its memory.
  const int64_t n = s.shape.num_elements();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += is_set(i);
  const int rank = s.shape.rank();
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, Shape({count, rank})));
  int64_t* out = static_cast<int64_t*>(data);
  for (int64_t i = 0; i < n; ++i) {
    if (!is_set(i)) continue;
    int64_t rest = i;
    for (int d = rank - 1; d >= 0; --d) {
      out[d] = rest % s.shape.dim(d);
      rest /= s.shape.dim(d);
    }
    out += rank;
  }
  return absl::OkStatus();
}

absl::Status RunWhere(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const WhereState*>(state);
  absl::Status status;
  VisitElement(s.type == DataType::kBool ? DataType::kUint8 : s.type,
               [&](auto element) { status = ListNonzero(s, args, element); });
  return status;
}

absl::Status PrepareWhere(Prepare& p) {
  if (p.input_shape(0).rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  auto s = std::make_shared<WhereState>(WhereState{p.input_shape(0), p.input_type(0)});
  p.set_dynamic_output(0);
  p.set_run(&RunWhere, std::move(s));
  return absl::OkStatus();
}

// What tells equal elements: their bytes, with -0 as 0; nullopt for NaN, which equals nothing.
class Keys {
 public:
  Keys(DataType type, const void* data)
      : type_(type), bytes_(DataTypeSize(type)), data_(static_cast<const char*>(data)) {}

  std::optional<std::string_view> Of(int64_t i) {
    const char* at = data_ + i * static_cast<int64_t>(bytes_);
    if (type_ == DataType::kString) {
      const auto* s = reinterpret_cast<const TF_TString*>(at);
      return std::string_view(TF_TString_GetDataPointer(s), TF_TString_GetSize(s));
    }
    if (type_ == DataType::kFloat) return OfFloat<float>(at);
    if (type_ == DataType::kDouble) return OfFloat<double>(at);
    if (HasType(kHalfTypes, type_)) {
      uint16_t bits;
      std::memcpy(&bits, at, 2);
      const uint16_t magnitude = bits & 0x7fff;
      if (magnitude > (type_ == DataType::kHalf ? 0x7c00 : 0x7f80)) return std::nullopt;
      return magnitude == 0 ? std::string_view("\0\0", 2) : std::string_view(at, 2);
    }
    return std::string_view(at, bytes_);
  }

 private:
  template <typename T>
  std::optional<std::string_view> OfFloat(const char* at) {
    static constexpr char kZeros[sizeof(T)] = {};
    T value;
    std::memcpy(&value, at, sizeof(T));
    if (value != value) return std::nullopt;
    return value == 0 ? std::string_view(kZeros, sizeof(T)) : std::string_view(at, sizeof(T));
  }

  DataType type_;
  size_t bytes_;
  const char* data_;
};

// The tensor as [outer, lines, inner]: lines are what is compared (elements where it is a vector).
struct UniqueState {
  Shape shape;
  int axis = 0;
  DataType type, index_type;
  bool counts = false;
};

// The lines' contents, one after the other, as keys.
std::vector<std::optional<std::string>> LineKeys(const UniqueState& s, const void* data) {
  const auto [outer, lines, inner] = SplitAt(s.shape, s.axis);
  Keys keys(s.type, data);
  std::vector<std::optional<std::string>> result(lines, std::string());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t l = 0; l < lines; ++l) {
      for (int64_t i = 0; i < inner; ++i) {
        const std::optional<std::string_view> key = keys.Of((o * lines + l) * inner + i);
        if (!key.has_value()) {
          result[l].reset();
        } else if (result[l].has_value()) {
          // The length before each text keeps "ab", "c" apart from "a", "bc".
          if (s.type == DataType::kString) absl::StrAppend(&*result[l], key->size(), ":");
          result[l]->append(*key);
        }
      }
    }
  }
  return result;
}

// The lines that are new, and how often each occurs.
struct FoundLines {
  std::vector<int64_t> first, counts;

  // Line l is the at-th that was found, or the next.
  void Add(const UniqueState& s, const StepArgs& args, int64_t l, int64_t at) {
    if (at == static_cast<int64_t>(first.size())) {
      first.push_back(l);
      counts.push_back(0);
    }
    ++counts[at];
    StoreIndex(args.out[1], s.index_type, l, at);
  }
};

// Of a vector of integers, whose bits are their keys.
template <typename Bits>
void FindNumbers(const UniqueState& s, const StepArgs& args, FoundLines& found) {
  const auto* const values = static_cast<const Bits*>(args.in[0]);
  absl::flat_hash_map<Bits, int64_t> seen;
  for (int64_t l = 0; l < s.shape.dim(s.axis); ++l) {
    const auto next = static_cast<int64_t>(found.first.size());
    found.Add(s, args, l, seen.try_emplace(values[l], next).first->second);
  }
}

void FindLines(const UniqueState& s, const StepArgs& args, FoundLines& found) {
  const auto keys = LineKeys(s, args.in[0]);
  absl::flat_hash_map<std::string_view, int64_t> seen;
  for (int64_t l = 0; l < static_cast<int64_t>(keys.size()); ++l) {
    const auto next = static_cast<int64_t>(found.first.size());
    // A line with a NaN is equal to no other, itself included: each makes a new value.
    found.Add(s, args, l,
              keys[l].has_value() ? seen.try_emplace(*keys[l], next).first->second : next);
  }
}

absl::Status RunUnique(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const UniqueState*>(state);
  const int64_t lines = s.shape.dim(s.axis);
  FoundLines lists;
  const bool plain = s.shape.rank() == 1;
  if (plain && HasType(TypeBits(DataType::kInt32, DataType::kUint32), s.type)) {
    FindNumbers<uint32_t>(s, args, lists);
  } else if (plain && HasType(TypeBits(DataType::kInt64, DataType::kUint64), s.type)) {
    FindNumbers<uint64_t>(s, args, lists);
  } else {
    FindLines(s, args, lists);
  }
  const auto& [first, counts] = lists;
  const int64_t found = static_cast<int64_t>(first.size());
  Shape out = s.shape;
  out.set_dim(s.axis, found);
  TENON_ASSIGN_OR_RETURN(void* y, args.run_state->AllocateOutput(0, out));
  const AxisSplit split = SplitAt(s.shape, s.axis);
  const ElementCopy copy(s.type);
  for (int64_t o = 0; o < split.outer; ++o) {
    for (int64_t k = 0; k < found; ++k) {
      copy(args.in[0], (o * lines + first[k]) * split.inner, y, (o * found + k) * split.inner,
           split.inner);
    }
  }
  if (!s.counts) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(void* count, args.run_state->AllocateOutput(2, Shape({found})));
  for (int64_t k = 0; k < found; ++k) StoreIndex(count, s.index_type, k, counts[k]);
  return absl::OkStatus();
}

absl::Status SetUnique(Prepare& p, int axis) {
  auto s = std::make_shared<UniqueState>();
  s->shape = p.input_shape(0);
  s->axis = axis;
  s->type = p.input_type(0);
  s->index_type = p.output_type(1);
  s->counts = p.num_outputs() == 3;
  p.set_dynamic_output(0);
  p.set_output_shape(1, Shape({s->shape.dim(axis)}));
  if (s->counts) p.set_dynamic_output(2);
  p.set_run(&RunUnique, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareUnique(Prepare& p) {
  if (p.input_shape(0).rank() != 1) return p.Invalid("the tensor must be a vector");
  return SetUnique(p, 0);
}

absl::Status PrepareUniqueV2(Prepare& p) {
  if (p.input_shape(1).rank() != 1) return p.Invalid("'axis' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Dims axes, p.InputInts(1));
  if (axes.empty()) return PrepareUnique(p);
  if (axes.size() != 1) return p.Invalid("'axis' must have at most one element");
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axes[0], p.input_shape(0).rank()));
  return SetUnique(p, axis);
}

struct DiffState {
  int64_t x = 0, y = 0;
  DataType type, index_type;
};

// Elements of x that y lacks, with their places.
absl::Status RunListDiff(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DiffState*>(state);
  Keys x(s.type, args.in[0]), y(s.type, args.in[1]);
  absl::flat_hash_set<std::string> known;
  for (int64_t i = 0; i < s.y; ++i) {
    if (const auto key = y.Of(i)) known.insert(std::string(*key));
  }
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < s.x; ++i) {
    const auto key = x.Of(i);
    if (!key.has_value() || !known.contains(*key)) kept.push_back(i);
  }
  const int64_t n = static_cast<int64_t>(kept.size());
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, Shape({n})));
  TENON_ASSIGN_OR_RETURN(void* index, args.run_state->AllocateOutput(1, Shape({n})));
  const ElementCopy copy(s.type);
  for (int64_t k = 0; k < n; ++k) {
    copy(args.in[0], kept[k], out, k);
    StoreIndex(index, s.index_type, k, kept[k]);
  }
  return absl::OkStatus();
}

absl::Status PrepareListDiff(Prepare& p) {
  if (p.input_shape(0).rank() != 1 || p.input_shape(1).rank() != 1)
    return p.Invalid("both inputs must be vectors");
  auto s = std::make_shared<DiffState>(DiffState{p.input_shape(0).dim(0), p.input_shape(1).dim(0),
                                                 p.input_type(0), p.output_type(1)});
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_run(&RunListDiff, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> WhereKernels() {
  static const CpuKernelSpec specs[] = {
      {"Where", {{"T", kWhereTypes}}, PrepareWhere},
      {"Unique", {{"T", kEveryType}}, PrepareUnique},
      {"UniqueWithCounts", {{"T", kEveryType}}, PrepareUnique},
      {"UniqueV2", {{"T", kEveryType}}, PrepareUniqueV2, 0b10},
      {"UniqueWithCountsV2", {{"T", kEveryType}}, PrepareUniqueV2, 0b10},
      {"ListDiff", {{"T", kEveryType}}, PrepareListDiff},
  };
  return specs;
}

}  // namespace tenon::cpu
