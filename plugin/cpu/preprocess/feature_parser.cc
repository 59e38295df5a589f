#include "plugin/cpu/preprocess/feature_parser.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// All values of a feature, and where each example's end.
struct FeatureParser::Column {
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

std::string_view FeatureKey::Name(const StepArgs& args) const {
  return input < 0 ? std::string_view(text) : StringAt(args.in[input], at);
}

absl::StatusOr<std::vector<FeatureKey>> KeysOfVector(const Prepare& p, int input) {
  if (p.input_shape(input).rank() != 1)
    return p.Invalid(absl::StrCat("'", p.op().inputs[input].name, "' must be a vector"));
  std::vector<FeatureKey> keys;
  for (int64_t i = 0; i < p.input_shape(input).dim(0); ++i) keys.push_back({input, i});
  return keys;
}

absl::StatusOr<std::vector<FeatureKey>> KeysOfScalars(const Prepare& p, int begin, int end) {
  std::vector<FeatureKey> keys;
  for (int i = begin; i < end; ++i) {
    if (p.input_shape(i).rank() != 0) return p.Invalid("the keys must be scalars");
    keys.push_back({i, 0});
  }
  return keys;
}

absl::StatusOr<std::vector<FeatureKey>> KeysOfAttr(const Prepare& p, std::string_view attr) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, p.AttrStringList(attr));
  std::vector<FeatureKey> keys;
  for (std::string_view name : names) keys.push_back({-1, 0, std::string(name)});
  return keys;
}

absl::Status InFeature(const absl::Status& status, std::string_view name, int64_t example) {
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat("feature '", name, "' of example ", example, ": "));
}

absl::Status StoreFeatureValues(const FeatureValues& values, int output, const StepArgs& args) {
  const int64_t n = values.size();
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(output, Shape({n})));
  for (int64_t i = 0; i < n; ++i) values.Store(i, out, i);
  return absl::OkStatus();
}

absl::Status StoreSplits(absl::Span<const int64_t> splits, DataType type, int output,
                         const StepArgs& args) {
  const auto n = static_cast<int64_t>(splits.size());
  if (type != DataType::kInt64 && n > 0 && splits.back() > INT32_MAX)
    return absl::InvalidArgumentError("the row splits do not fit int32");
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(output, Shape({n})));
  for (int64_t i = 0; i < n; ++i)
    StoreIndex(out, type == DataType::kInt64, i, splits[static_cast<size_t>(i)]);
  return absl::OkStatus();
}

absl::Status FeatureParser::CheckDense(const Feature& f, const Column& column, int64_t example) {
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

// Reads every example once, and sorts its features' values into columns. The outputs cannot be
// written at once: their sizes are known only behind the last example, since sparse and ragged
// features have any number of values, and an open dimension is as long as the longest example's.
absl::StatusOr<std::vector<FeatureParser::Column>> FeatureParser::ReadColumns(
    const StepArgs& args) const {
  absl::flat_hash_map<std::string_view, size_t> numbers;
  std::vector<Column> columns;
  for (const Feature& f : features_) {
    const std::string_view name = f.key.Name(args);
    if (!numbers.emplace(name, columns.size()).second)
      return absl::InvalidArgumentError(absl::StrCat("feature '", name, "' is there twice"));
    columns.emplace_back(f.type);
  }
  std::vector<FeatureList> lists(columns.size());
  for (int64_t i = 0; i < examples_; ++i) {
    std::fill(lists.begin(), lists.end(), FeatureList());
    const absl::Status read =
        ReadExample(StringAt(args.in[0], i), [&](std::string_view name, FeatureList list) {
          const auto found = numbers.find(name);
          // Of a name that is there twice the last entry stands.
          if (found != numbers.end()) lists[found->second] = list;
        });
    if (!read.ok()) return Annotate(read, absl::StrCat("example ", i, ": "));
    for (size_t k = 0; k < columns.size(); ++k) {
      const bool there = lists[k].type != DataType::kInvalid;
      columns[k].there.push_back(there);
      absl::Status added = there ? columns[k].values.Append(lists[k]) : absl::OkStatus();
      columns[k].ends.push_back(columns[k].values.size());
      if (added.ok() && features_[k].kind == Kind::kDense)
        added = CheckDense(features_[k], columns[k], i);
      TENON_RETURN_IF_ERROR(InFeature(added, features_[k].key.Name(args), i));
    }
  }
  return columns;
}

absl::Status FeatureParser::StoreSparse(const Feature& f, const Column& column,
                                        const StepArgs& args) const {
  const int64_t n = column.values.size(), rank = batch_ ? 2 : 1;
  TENON_ASSIGN_OR_RETURN(void* const indices,
                         args.run_state->AllocateOutput(f.number, Shape({n, rank})));
  auto* index = static_cast<int64_t*>(indices);
  for (int64_t example = 0; example < examples_; ++example) {
    for (int64_t i = 0; i < column.Length(example); ++i) {
      if (batch_) *index++ = example;
      *index++ = i;
    }
  }
  const int count = counts_[0];
  TENON_RETURN_IF_ERROR(StoreFeatureValues(column.values, count + f.number, args));
  TENON_ASSIGN_OR_RETURN(void* const shape,
                         args.run_state->AllocateOutput(2 * count + f.number, Shape({rank})));
  auto* const dims = static_cast<int64_t*>(shape);
  if (batch_) dims[0] = examples_;
  dims[rank - 1] = column.Longest();
  return absl::OkStatus();
}

absl::Status FeatureParser::StoreDense(const Feature& f, const Column& column,
                                       const StepArgs& args) const {
  const int64_t block = f.Block();
  // A block of no elements cannot tell how many rows there are: 0.
  const int64_t rows = !f.open ? 1 : block == 0 ? 0 : column.Longest() / block;
  Dims dims;
  if (batch_) dims.push_back(examples_);
  if (f.open) dims.push_back(rows);
  dims.insert(dims.end(), f.shape.dims().begin(), f.shape.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  // An open dimension is as long as the longest example's, in all examples: one long example of
  // many could ask for any amount of memory.
  TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(shape.num_elements()) *
                                         static_cast<double>(DataTypeSize(f.type))));
  TENON_ASSIGN_OR_RETURN(void* const out,
                         args.run_state->AllocateOutput(3 * counts_[0] + f.number, shape));
  const ElementCopy copy(f.type);
  const int64_t size = rows * block;  // of one example
  for (int64_t example = 0; example < examples_; ++example) {
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

absl::Status FeatureParser::StoreRagged(const Feature& f, const Column& column,
                                        const StepArgs& args) const {
  const int first = 3 * counts_[0] + counts_[1];
  TENON_RETURN_IF_ERROR(StoreFeatureValues(column.values, first + f.number, args));
  std::vector<int64_t> splits;
  if (batch_) {
    splits = column.ends;
    splits.insert(splits.begin(), 0);
  }
  return StoreSplits(splits, f.split_type, first + counts_[2] + f.number, args);
}

absl::Status FeatureParser::Run(const StepArgs& args) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<Column> columns, ReadColumns(args));
  for (size_t k = 0; k < columns.size(); ++k) {
    constexpr decltype(&FeatureParser::StoreSparse) kStores[] = {
        &FeatureParser::StoreSparse, &FeatureParser::StoreDense, &FeatureParser::StoreRagged};
    const Feature& f = features_[k];
    TENON_RETURN_IF_ERROR((this->*kStores[static_cast<int>(f.kind)])(f, columns[k], args));
  }
  return absl::OkStatus();
}

// Gives the dense feature its shape and its default, an input.
absl::Status FeatureParser::SetDense(const Prepare& p, const PartialShape& shape, int input,
                                     Feature* f) {
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

// Adds the features of one kind; `types_from` is the first output of their values.
void FeatureParser::AddFeatures(const Prepare& p, Kind kind, std::vector<FeatureKey> keys,
                                int types_from) {
  for (FeatureKey& key : keys) {
    const int number = counts_[static_cast<int>(kind)]++;
    features_.push_back({kind, p.output_type(types_from + number), number, std::move(key)});
  }
}

absl::StatusOr<FeatureParser> FeatureParser::Make(const Prepare& p, FeatureKeys keys,
                                                  int first_default, std::string_view shapes_attr) {
  const int sparses = static_cast<int>(keys.sparse.size()),
            denses = static_cast<int>(keys.dense.size()),
            raggeds = static_cast<int>(keys.ragged.size());
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf(shapes_attr));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (keys.num_outputs() > p.num_outputs() || first_default + denses > p.num_inputs())
    return p.Invalid("keys, types and defaults of the features do not correspond");
  if (static_cast<int>(shapes.size()) != denses) {
    return p.Invalid(
        absl::StrCat("attribute '", shapes_attr, "' must have a shape for each dense feature"));
  }
  const Shape& serialized = p.input_shape(0);
  if (serialized.rank() > 1) return p.Invalid("'serialized' must be a scalar or a vector");
  FeatureParser parser;
  parser.batch_ = serialized.rank() == 1;
  parser.examples_ = serialized.num_elements();
  parser.AddFeatures(p, Kind::kSparse, std::move(keys.sparse), sparses);
  parser.AddFeatures(p, Kind::kDense, std::move(keys.dense), 3 * sparses);
  parser.AddFeatures(p, Kind::kRagged, std::move(keys.ragged), 3 * sparses + denses);
  for (Feature& f : parser.features_) {
    if (f.kind == Kind::kDense)
      TENON_RETURN_IF_ERROR(SetDense(p, shapes[f.number], first_default + f.number, &f));
    if (f.kind == Kind::kRagged)
      f.split_type = p.output_type(3 * sparses + denses + raggeds + f.number);
  }
  return parser;
}

}  // namespace tenon::cpu
