// ParseExample, ParseExampleV2, ParseSingleExample: features of serialized tf.Examples as dense,
// sparse and ragged tensors.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/element_copy.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/preprocess/example_reader.h"
#include "plugin/cpu/strings/string_element.h"

namespace tenon::cpu {
namespace {

enum class Kind { kSparse, kDense, kRagged };

// One feature that is asked for. Its name is element `key_at` of input `key_input`, or `key` if
// that is negative.
struct Feature {
  Kind kind;
  DataType type;
  int number;  // among those of its kind
  int key_input = -1;
  int64_t key_at = 0;
  std::string key = {};
  // Dense ones: the shape of one example's values; the first dimension is as long as the longest if
  // it is open.
  Shape shape = {};
  bool open = false;
  int default_input = -1;
  int64_t default_size = 0;
  bool split64 = true;  // ragged ones

  std::string_view Name(const StepArgs& args) const {
    return key_input < 0 ? std::string_view(key) : StringAt(args.in[key_input], key_at);
  }
  // Elements of one example, or of one place of an open dimension.
  int64_t Block() const { return shape.num_elements(); }
};

struct Parse {
  std::vector<Feature> features;
  int counts[3] = {};  // of each kind
  bool batch;          // many examples, rather than one
  int64_t examples;
};

// All values of a feature, and where each example's end.
struct Column {
  explicit Column(DataType type) : values(type) {}
  FeatureValues values;
  std::vector<int64_t> ends;
  std::vector<bool> there;

  int64_t Begin(int64_t example) const { return example == 0 ? 0 : ends[example - 1]; }
  int64_t Length(int64_t example) const { return ends[example] - Begin(example); }
  int64_t Longest() const {
    int64_t longest = 0;
    for (size_t i = 0; i < ends.size(); ++i)
      longest = std::max(longest, Length(static_cast<int64_t>(i)));
    return longest;
  }
};

absl::Status InFeature(const absl::Status& status, std::string_view name, int64_t example) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("feature '", name, "' of example ", example, ": ",
                                                  status.message()));
}

absl::Status CheckDense(const Feature& f, const Column& column, int64_t example) {
  const int64_t length = column.Length(example);
  if (!column.there[example]) {
    if (f.default_size > 0 || f.open) return absl::OkStatus();
    return absl::InvalidArgumentError("it is missing and has no default");
  }
  if (f.open ? f.Block() == 0 ? length == 0 : length % f.Block() == 0 : length == f.Block())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("it has ", length, " values, which do not fit ",
                                                 f.open ? "rows of shape " : "the shape ",
                                                 f.shape.ToString()));
}

// Reads every example once, and sorts its features' values into columns.
absl::StatusOr<std::vector<Column>> ReadColumns(const Parse& s, const StepArgs& args) {
  absl::flat_hash_map<std::string_view, size_t> numbers;
  std::vector<Column> columns;
  for (const Feature& f : s.features) {
    if (!numbers.emplace(f.Name(args), columns.size()).second)
      return absl::InvalidArgumentError(
          absl::StrCat("feature '", f.Name(args), "' is there twice"));
    columns.emplace_back(f.type);
  }
  std::vector<FeatureList> lists(columns.size());
  for (int64_t i = 0; i < s.examples; ++i) {
    std::fill(lists.begin(), lists.end(), FeatureList());
    const absl::Status read =
        ReadExample(StringAt(args.in[0], i), [&](std::string_view name, FeatureList list) {
          const auto found = numbers.find(name);
          if (found != numbers.end()) lists[found->second] = list;
        });
    if (!read.ok())
      return absl::Status(read.code(), absl::StrCat("example ", i, ": ", read.message()));
    for (size_t k = 0; k < columns.size(); ++k) {
      const bool there = lists[k].type != DataType::kInvalid;
      columns[k].there.push_back(there);
      absl::Status added = there ? columns[k].values.Append(lists[k]) : absl::OkStatus();
      columns[k].ends.push_back(columns[k].values.size());
      if (added.ok() && s.features[k].kind == Kind::kDense)
        added = CheckDense(s.features[k], columns[k], i);
      TENON_RETURN_IF_ERROR(InFeature(added, s.features[k].Name(args), i));
    }
  }
  return columns;
}

absl::Status StoreValues(const Column& column, int output, const StepArgs& args) {
  const int64_t n = column.values.size();
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(output, Shape({n})));
  for (int64_t i = 0; i < n; ++i) column.values.Store(i, out, i);
  return absl::OkStatus();
}

// Outputs: indices, values and shapes of all sparse features, then the dense ones, then values and
// row splits of the ragged ones.
absl::Status StoreSparse(const Parse& s, const Feature& f, const Column& column,
                         const StepArgs& args) {
  const int64_t n = column.values.size(), rank = s.batch ? 2 : 1;
  TENON_ASSIGN_OR_RETURN(void* const indices,
                         args.run_state->AllocateOutput(f.number, Shape({n, rank})));
  auto* index = static_cast<int64_t*>(indices);
  for (int64_t example = 0; example < s.examples; ++example) {
    for (int64_t i = 0; i < column.Length(example); ++i) {
      if (s.batch) *index++ = example;
      *index++ = i;
    }
  }
  const int count = s.counts[0];
  TENON_RETURN_IF_ERROR(StoreValues(column, count + f.number, args));
  TENON_ASSIGN_OR_RETURN(void* const shape,
                         args.run_state->AllocateOutput(2 * count + f.number, Shape({rank})));
  auto* const dims = static_cast<int64_t*>(shape);
  if (s.batch) dims[0] = s.examples;
  dims[rank - 1] = column.Longest();
  return absl::OkStatus();
}

absl::Status StoreDense(const Parse& s, const Feature& f, const Column& column,
                        const StepArgs& args) {
  const int64_t block = f.Block();
  const int64_t rows = !f.open ? 1 : block == 0 ? 0 : column.Longest() / block;
  Dims dims;
  if (s.batch) dims.push_back(s.examples);
  if (f.open) dims.push_back(rows);
  dims.insert(dims.end(), f.shape.dims().begin(), f.shape.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(shape.num_elements()) *
                                         static_cast<double>(DataTypeSize(f.type))));
  TENON_ASSIGN_OR_RETURN(void* const out,
                         args.run_state->AllocateOutput(3 * s.counts[0] + f.number, shape));
  const ElementCopy copy(f.type);
  const int64_t size = rows * block;  // of one example
  for (int64_t example = 0; example < s.examples; ++example) {
    const int64_t to = example * size, length = column.Length(example);
    for (int64_t i = 0; i < length; ++i)
      column.values.Store(column.Begin(example) + i, out, to + i);
    if (f.default_size == 0) {
      copy.Zero(out, to + length, size - length);
    } else if (f.default_size == 1) {
      copy.Repeat(args.in[f.default_input], 0, out, to + length, size - length);
    } else if (length < size) {
      copy(args.in[f.default_input], 0, out, to, size);
    }
  }
  return absl::OkStatus();
}

absl::Status StoreRagged(const Parse& s, const Feature& f, const Column& column,
                         const StepArgs& args) {
  const int first = 3 * s.counts[0] + s.counts[1];
  TENON_RETURN_IF_ERROR(StoreValues(column, first + f.number, args));
  const int64_t n = s.batch ? s.examples + 1 : 0;
  TENON_ASSIGN_OR_RETURN(
      void* const out, args.run_state->AllocateOutput(first + s.counts[2] + f.number, Shape({n})));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t split = i == 0 ? 0 : column.ends[i - 1];
    if (f.split64) {
      static_cast<int64_t*>(out)[i] = split;
    } else if (split > INT32_MAX) {
      return absl::InvalidArgumentError("the row splits do not fit int32");
    } else {
      static_cast<int32_t*>(out)[i] = static_cast<int32_t>(split);
    }
  }
  return absl::OkStatus();
}

absl::Status RunParse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Parse*>(state);
  TENON_ASSIGN_OR_RETURN(const std::vector<Column> columns, ReadColumns(s, args));
  for (size_t k = 0; k < columns.size(); ++k) {
    constexpr decltype(&StoreSparse) kStores[] = {&StoreSparse, &StoreDense, &StoreRagged};
    const Feature& f = s.features[k];
    TENON_RETURN_IF_ERROR(kStores[static_cast<int>(f.kind)](s, f, columns[k], args));
  }
  return absl::OkStatus();
}

// Gives the dense feature its shape and its default, an input.
absl::Status SetDense(const Prepare& p, const PartialShape& shape, int input, Feature* f) {
  const Shape& value = p.input_shape(input);
  f->default_input = input;
  f->default_size = value.num_elements();
  if (!shape.known_rank()) return p.Invalid("a dense feature must have a shape of known rank");
  f->open = shape.rank() > 0 && shape.dim(0) < 0;
  Dims dims(shape.dims().begin() + (f->open ? 1 : 0), shape.dims().end());
  absl::StatusOr<Shape> fixed = CheckedShape(p, dims);
  if (!fixed.ok()) return p.Invalid("only the first dimension of a dense feature may be open");
  f->shape = *std::move(fixed);
  if (f->default_size == 0) return absl::OkStatus();
  if (f->open ? f->default_size == 1 : value == f->shape) return absl::OkStatus();
  return p.Invalid(absl::StrCat("dense feature ", f->number, " of shape ", shape.ToString(),
                                " cannot have a default of shape ", value.ToString()));
}

// Where a feature's name comes from: input and element, or text.
struct KeySource {
  int input = -1;
  int64_t at = 0;
  std::string text = {};
};

// Adds the features of one kind; `types_from` is the first output of their values.
void AddFeatures(const Prepare& p, Kind kind, std::vector<KeySource> keys, int types_from,
                 Parse* s) {
  for (KeySource& key : keys) {
    const int number = s->counts[static_cast<int>(kind)]++;
    s->features.push_back(
        {kind, p.output_type(types_from + number), number, key.input, key.at, std::move(key.text)});
  }
}

absl::Status PrepareFeatures(Prepare& p, std::vector<KeySource> sparse,
                             std::vector<KeySource> dense, std::vector<KeySource> ragged,
                             int first_default) {
  auto s = std::make_shared<Parse>();
  const int sparses = static_cast<int>(sparse.size()), denses = static_cast<int>(dense.size()),
            raggeds = static_cast<int>(ragged.size());
  if (3 * sparses + denses + 2 * raggeds != p.num_outputs() ||
      first_default + denses != p.num_inputs()) {
    return p.Invalid("keys, types and defaults of the features do not correspond");
  }
  const Shape& serialized = p.input_shape(0);
  if (serialized.rank() > 1) return p.Invalid("'serialized' must be a scalar or a vector");
  s->batch = serialized.rank() == 1;
  s->examples = serialized.num_elements();
  AddFeatures(p, Kind::kSparse, std::move(sparse), sparses, s.get());
  AddFeatures(p, Kind::kDense, std::move(dense), 3 * sparses, s.get());
  AddFeatures(p, Kind::kRagged, std::move(ragged), 3 * sparses + denses, s.get());
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("dense_shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (static_cast<int>(shapes.size()) != denses)
    return p.Invalid("attribute 'dense_shapes' must have a shape for each dense feature");
  for (Feature& f : s->features) {
    if (f.kind == Kind::kDense)
      TENON_RETURN_IF_ERROR(SetDense(p, shapes[f.number], first_default + f.number, &f));
    if (f.kind == Kind::kRagged) {
      f.split64 = p.output_type(3 * sparses + denses + raggeds + f.number) == DataType::kInt64;
    }
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunParse, std::move(s));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KeySource>> KeysOfVector(const Prepare& p, int input) {
  if (p.input_shape(input).rank() != 1)
    return p.Invalid(absl::StrCat("'", p.op().inputs[input].name, "' must be a vector"));
  std::vector<KeySource> keys;
  for (int64_t i = 0; i < p.input_shape(input).dim(0); ++i) keys.push_back({input, i});
  return keys;
}

absl::Status PrepareParseV2(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::vector<KeySource> sparse, KeysOfVector(p, 2));
  TENON_ASSIGN_OR_RETURN(std::vector<KeySource> dense, KeysOfVector(p, 3));
  TENON_ASSIGN_OR_RETURN(std::vector<KeySource> ragged, KeysOfVector(p, 4));
  return PrepareFeatures(p, std::move(sparse), std::move(dense), std::move(ragged), 5);
}

absl::Status PrepareParseV1(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t sparses, p.AttrInt("Nsparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t denses, p.AttrInt("Ndense"));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'serialized' must be a vector");
  std::vector<KeySource> sparse, dense;
  const auto first_default = static_cast<int>(2 + sparses + denses);
  for (int i = 2; i < first_default; ++i) {
    if (p.input_shape(i).rank() != 0) return p.Invalid("the keys must be scalars");
    (i < 2 + sparses ? sparse : dense).push_back({i, 0});
  }
  return PrepareFeatures(p, std::move(sparse), std::move(dense), {}, first_default);
}

absl::Status PrepareParseSingle(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("'serialized' must be a scalar");
  std::vector<KeySource> keys[2];
  constexpr const char* kNames[] = {"sparse_keys", "dense_keys"};
  for (int k = 0; k < 2; ++k) {
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, p.AttrStringList(kNames[k]));
    for (std::string_view name : names) keys[k].push_back({-1, 0, std::string(name)});
  }
  return PrepareFeatures(p, std::move(keys[0]), std::move(keys[1]), {}, 1);
}

}  // namespace

absl::Span<const CpuKernelSpec> ParseExampleKernels() {
  static const CpuKernelSpec specs[] = {
      {"ParseExampleV2", {}, PrepareParseV2},
      {"ParseExample", {}, PrepareParseV1},
      {"ParseSingleExample", {}, PrepareParseSingle},
  };
  return specs;
}

}  // namespace tenon::cpu
