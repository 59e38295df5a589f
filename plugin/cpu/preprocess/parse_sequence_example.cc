// ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample: features of serialized
// tf.SequenceExamples, which have a context, as tf.Examples are, and lists of features by step.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/preprocess/feature_parser.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// A list of features that is asked for.
struct ListFeature {
  enum class Kind { kSparse, kDense, kRagged };
  Kind kind;
  DataType type;
  int number;  // among those of its kind
  FeatureKey key;
  Shape shape = {};  // of a step's values, of dense ones
  DataType split_type = DataType::kInt64;
};

// Which dense lists may be missing: keys, or flags in a bool input.
struct MayBeMissing {
  int flags_input = -1;
  std::vector<FeatureKey> keys = {};

  bool Has(const StepArgs& args, int number, std::string_view name) const {
    if (flags_input >= 0) return static_cast<const bool*>(args.in[flags_input])[number];
    return std::any_of(keys.begin(), keys.end(),
                       [&](const FeatureKey& key) { return key.Name(args) == name; });
  }
};

struct SequenceParse {
  FeatureParser context;
  std::vector<ListFeature> lists;
  int sparses = 0, denses = 0, raggeds = 0;
  int first_output = 0;     // behind the context's
  bool has_lengths = true;  // of dense lists
  MayBeMissing may_be_missing;
};

// All values of a list; where those of each step end, and each example's steps.
struct Steps {
  explicit Steps(DataType type) : values(type) {}
  FeatureValues values;
  std::vector<int64_t> step_ends, example_ends;

  int64_t steps() const { return static_cast<int64_t>(step_ends.size()); }
  static int64_t Length(const std::vector<int64_t>& ends, int64_t i) {
    return ends[i] - (i == 0 ? 0 : ends[i - 1]);
  }
  static int64_t Longest(const std::vector<int64_t>& ends) {
    int64_t longest = 0;
    for (size_t i = 0; i < ends.size(); ++i)
      longest = std::max(longest, Length(ends, static_cast<int64_t>(i)));
    return longest;
  }
};

absl::Status AddSteps(const ListFeature& f, std::string_view wire, Steps* steps) {
  return ReadSteps(wire, [&](FeatureList step) -> absl::Status {
    const int64_t before = steps->values.size();
    if (step.type != DataType::kInvalid) TENON_RETURN_IF_ERROR(steps->values.Append(step));
    steps->step_ends.push_back(steps->values.size());
    const int64_t count = steps->values.size() - before;
    if (f.kind != ListFeature::Kind::kDense || count == f.shape.num_elements())
      return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "a step has ", count, " values, which do not fit the shape ", f.shape.ToString()));
  });
}

absl::StatusOr<std::vector<Steps>> ReadLists(const SequenceParse& s, const StepArgs& args) {
  absl::flat_hash_map<std::string_view, size_t> numbers;
  std::vector<Steps> all;
  for (const ListFeature& f : s.lists) {
    const std::string_view name = f.key.Name(args);
    if (!numbers.emplace(name, all.size()).second)
      return absl::InvalidArgumentError(absl::StrCat("feature list '", name, "' is there twice"));
    all.emplace_back(f.type);
  }
  std::vector<std::string_view> found(all.size());
  for (int64_t i = 0; i < s.context.examples(); ++i) {
    std::fill(found.begin(), found.end(), std::string_view());
    const absl::Status read = ReadFeatureLists(StringAt(args.in[0], i),
                                               [&](std::string_view name, std::string_view wire) {
                                                 const auto number = numbers.find(name);
                                                 if (number != numbers.end())
                                                   found[number->second] = wire;
                                               });
    if (!read.ok()) return Annotate(read, absl::StrCat("example ", i, ": "));
    for (size_t k = 0; k < all.size(); ++k) {
      const ListFeature& f = s.lists[k];
      const std::string_view name = f.key.Name(args);
      absl::Status added;
      // An empty list has data, a missing one has none.
      if (found[k].data() != nullptr) {
        added = AddSteps(f, found[k], &all[k]);
      } else if (f.kind == ListFeature::Kind::kDense &&
                 !s.may_be_missing.Has(args, f.number, name)) {
        added = absl::InvalidArgumentError("the list is missing, and not said to be empty then");
      }
      TENON_RETURN_IF_ERROR(InFeature(added, name, i));
      all[k].example_ends.push_back(all[k].steps());
    }
  }
  return all;
}

// Outputs: indices, values and shapes of all sparse lists, values and lengths of the dense ones,
// values, outer and inner row splits of the ragged ones.
absl::Status StoreSparse(const SequenceParse& s, const ListFeature& f, const Steps& steps,
                         const StepArgs& args) {
  const bool batch = s.context.batch();
  const int64_t rank = batch ? 3 : 2;
  const int first = s.first_output + f.number;
  TENON_ASSIGN_OR_RETURN(void* const indices,
                         args.run_state->AllocateOutput(first, Shape({steps.values.size(), rank})));
  auto* index = static_cast<int64_t*>(indices);
  int64_t step = 0;
  for (int64_t example = 0; example < s.context.examples(); ++example) {
    const int64_t count = Steps::Length(steps.example_ends, example);
    for (int64_t t = 0; t < count; ++t, ++step) {
      for (int64_t i = 0; i < Steps::Length(steps.step_ends, step); ++i) {
        if (batch) *index++ = example;
        *index++ = t;
        *index++ = i;
      }
    }
  }
  TENON_RETURN_IF_ERROR(StoreFeatureValues(steps.values, first + s.sparses, args));
  TENON_ASSIGN_OR_RETURN(void* const shape,
                         args.run_state->AllocateOutput(first + 2 * s.sparses, Shape({rank})));
  auto* dims = static_cast<int64_t*>(shape);
  if (batch) *dims++ = s.context.examples();
  dims[0] = Steps::Longest(steps.example_ends);
  dims[1] = Steps::Longest(steps.step_ends);
  return absl::OkStatus();
}

absl::Status StoreDense(const SequenceParse& s, const ListFeature& f, const Steps& steps,
                        const StepArgs& args) {
  const bool batch = s.context.batch();
  const int64_t examples = s.context.examples(), longest = Steps::Longest(steps.example_ends);
  Dims dims;
  if (batch) dims.push_back(examples);
  dims.push_back(longest);
  dims.insert(dims.end(), f.shape.dims().begin(), f.shape.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(shape.num_elements()) *
                                         static_cast<double>(DataTypeSize(f.type))));
  const int first = s.first_output + 3 * s.sparses + f.number;
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(first, shape));
  const ElementCopy copy(f.type);
  const int64_t block = f.shape.num_elements();
  int64_t from = 0;
  for (int64_t example = 0; example < examples; ++example) {
    const int64_t used = Steps::Length(steps.example_ends, example) * block;
    const int64_t to = example * longest * block;
    for (int64_t i = 0; i < used; ++i) steps.values.Store(from++, out, to + i);
    copy.Zero(out, to + used, longest * block - used);
  }
  if (!s.has_lengths) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(
      void* const lengths,
      args.run_state->AllocateOutput(first + s.denses, batch ? Shape({examples}) : Shape()));
  for (int64_t example = 0; example < examples; ++example)
    static_cast<int64_t*>(lengths)[example] = Steps::Length(steps.example_ends, example);
  return absl::OkStatus();
}

absl::Status StoreRagged(const SequenceParse& s, const ListFeature& f, const Steps& steps,
                         const StepArgs& args) {
  const int first = s.first_output + 3 * s.sparses + 2 * s.denses + f.number;
  TENON_RETURN_IF_ERROR(StoreFeatureValues(steps.values, first, args));
  const auto splits = [](std::vector<int64_t> ends) {
    ends.insert(ends.begin(), 0);
    return ends;
  };
  const std::vector<int64_t> outer =
      s.context.batch() ? splits(steps.example_ends) : std::vector<int64_t>();
  TENON_RETURN_IF_ERROR(StoreSplits(outer, f.split_type, first + s.raggeds, args));
  return StoreSplits(splits(steps.step_ends), f.split_type, first + 2 * s.raggeds, args);
}

absl::Status RunParseSequence(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SequenceParse*>(state);
  TENON_RETURN_IF_ERROR(s.context.Run(args));
  TENON_ASSIGN_OR_RETURN(const std::vector<Steps> all, ReadLists(s, args));
  for (size_t k = 0; k < all.size(); ++k) {
    constexpr decltype(&StoreSparse) kStores[] = {&StoreSparse, &StoreDense, &StoreRagged};
    const ListFeature& f = s.lists[k];
    TENON_RETURN_IF_ERROR(kStores[static_cast<int>(f.kind)](s, f, all[k], args));
  }
  return absl::OkStatus();
}

absl::Status SetParse(Prepare& p, FeatureKeys context, FeatureKeys lists, int first_default,
                      MayBeMissing may_be_missing, bool has_lengths) {
  auto s = std::make_shared<SequenceParse>();
  s->first_output = context.num_outputs();
  s->has_lengths = has_lengths;
  s->may_be_missing = std::move(may_be_missing);
  s->sparses = static_cast<int>(lists.sparse.size());
  s->denses = static_cast<int>(lists.dense.size());
  s->raggeds = static_cast<int>(lists.ragged.size());
  TENON_ASSIGN_OR_RETURN(s->context, FeatureParser::Make(p, std::move(context), first_default,
                                                         "context_dense_shapes"));
  const int outputs =
      s->first_output + 3 * s->sparses + (has_lengths ? 2 : 1) * s->denses + 3 * s->raggeds;
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("feature_list_dense_shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (outputs != p.num_outputs() || static_cast<int>(shapes.size()) != s->denses)
    return p.Invalid("keys, types and shapes of the feature lists do not correspond");
  using Kind = ListFeature::Kind;
  const auto add = [&](Kind kind, std::vector<FeatureKey> keys, int types_from) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto number = static_cast<int>(i);
      s->lists.push_back({kind, p.output_type(types_from + number), number, std::move(keys[i])});
    }
  };
  const int denses_from = s->first_output + 3 * s->sparses;
  const int raggeds_from = denses_from + (has_lengths ? 2 : 1) * s->denses;
  add(Kind::kSparse, std::move(lists.sparse), s->first_output + s->sparses);
  add(Kind::kDense, std::move(lists.dense), denses_from);
  add(Kind::kRagged, std::move(lists.ragged), raggeds_from);
  for (ListFeature& f : s->lists) {
    if (f.kind == Kind::kRagged) f.split_type = p.output_type(raggeds_from + s->raggeds + f.number);
    if (f.kind != Kind::kDense) continue;
    if (!shapes[f.number].fully_defined())
      return p.Invalid("the shape of a dense feature list's steps must be known");
    f.shape = *shapes[f.number].ToShape();
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunParseSequence, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareSequenceV2(Prepare& p) {
  FeatureKeys context, lists;
  TENON_ASSIGN_OR_RETURN(context.sparse, KeysOfVector(p, 2));
  TENON_ASSIGN_OR_RETURN(context.dense, KeysOfVector(p, 3));
  TENON_ASSIGN_OR_RETURN(context.ragged, KeysOfVector(p, 4));
  TENON_ASSIGN_OR_RETURN(lists.sparse, KeysOfVector(p, 5));
  TENON_ASSIGN_OR_RETURN(lists.dense, KeysOfVector(p, 6));
  TENON_ASSIGN_OR_RETURN(lists.ragged, KeysOfVector(p, 7));
  constexpr int kFlags = 8;
  const auto denses = static_cast<int64_t>(lists.dense.size());
  if (!(p.input_shape(kFlags) == Shape({denses})))
    return p.Invalid(
        "'feature_list_dense_missing_assumed_empty' must have an element for each key");
  return SetParse(p, std::move(context), std::move(lists), 9, {kFlags}, true);
}

absl::Status PrepareSequenceV1(Prepare& p) {
  FeatureKeys context, lists;
  MayBeMissing may_be_missing;
  TENON_ASSIGN_OR_RETURN(context.sparse, KeysOfAttr(p, "context_sparse_keys"));
  TENON_ASSIGN_OR_RETURN(context.dense, KeysOfAttr(p, "context_dense_keys"));
  TENON_ASSIGN_OR_RETURN(lists.sparse, KeysOfAttr(p, "feature_list_sparse_keys"));
  TENON_ASSIGN_OR_RETURN(lists.dense, KeysOfAttr(p, "feature_list_dense_keys"));
  TENON_ASSIGN_OR_RETURN(may_be_missing.keys,
                         KeysOfAttr(p, "feature_list_dense_missing_assumed_empty"));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'serialized' must be a vector");
  return SetParse(p, std::move(context), std::move(lists), 2, std::move(may_be_missing), true);
}

absl::Status PrepareSingleSequence(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("'serialized' must be a scalar");
  FeatureKeys context, lists;
  MayBeMissing may_be_missing;
  TENON_ASSIGN_OR_RETURN(may_be_missing.keys, KeysOfVector(p, 1));
  int input = 2;
  for (const auto& [attr, keys] : {std::pair("Ncontext_sparse", &context.sparse),
                                   {"Ncontext_dense", &context.dense},
                                   {"Nfeature_list_sparse", &lists.sparse},
                                   {"Nfeature_list_dense", &lists.dense}}) {
    TENON_ASSIGN_OR_RETURN(const int64_t count, p.AttrInt(attr));
    TENON_ASSIGN_OR_RETURN(*keys, KeysOfScalars(p, input, input + static_cast<int>(count)));
    input += static_cast<int>(count);
  }
  return SetParse(p, std::move(context), std::move(lists), input, std::move(may_be_missing), false);
}

}  // namespace

absl::Span<const CpuKernelSpec> ParseSequenceExampleKernels() {
  static const CpuKernelSpec specs[] = {
      {"ParseSequenceExampleV2", {}, PrepareSequenceV2},
      {"ParseSequenceExample", {}, PrepareSequenceV1},
      {"ParseSingleSequenceExample", {}, PrepareSingleSequence},
  };
  return specs;
}

}  // namespace tenon::cpu
