// Shape functions of ops that parse and write protocol buffers: examples, sequences of them, and
// messages of any type. What the attributes say of the columns must fit together.
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

absl::StatusOr<int64_t> CountStrings(InferenceContext& c, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf(name));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> strings, attr.AsStringList());
  return static_cast<int64_t>(strings.size());
}

absl::StatusOr<std::vector<PartialShape>> ShapeList(InferenceContext& c, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf(name));
  return attr.AsShapeList();
}

// Shapes of dense columns, of which the first dimension may be unknown.
absl::StatusOr<std::vector<PartialShape>> DenseShapes(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, ShapeList(c, "dense_shapes"));
  for (size_t i = 0; i < shapes.size(); ++i) {
    bool known = shapes[i].known_rank();
    for (int d = 1; d < shapes[i].rank(); ++d) known &= shapes[i].dim(d) >= 0;
    if (!known) {
      return Invalid("dense_shapes[", i, "] has unknown rank or unknown inner dimensions: ",
                     shapes[i].known_rank() ? shapes[i].ToString() : "<unknown>");
    }
  }
  return shapes;
}

// Shapes of columns of sequences: an unknown one means a scalar, an unknown dimension nothing.
absl::StatusOr<std::vector<PartialShape>> KnownShapes(InferenceContext& c, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, ShapeList(c, name));
  for (PartialShape& shape : shapes) {
    if (!shape.known_rank()) shape = Shape();
    for (const int64_t dim : shape.dims()) {
      if (dim < 0) return Invalid("Shape ", shape.ToString(), " is not fully defined");
    }
  }
  return shapes;
}

// `what` (n) is the number of things in the lists of these names.
absl::Status SameCount(std::string_view what, int64_t n,
                       std::initializer_list<std::pair<std::string_view, int64_t>> lists) {
  bool same = true;
  std::string text;
  for (const auto& [name, size] : lists) {
    same &= size == n;
    absl::StrAppend(&text, text.empty() ? "" : " and ", name, " (", size, ")");
  }
  return same ? absl::OkStatus() : Invalid(what, " (", n, ") must match the size of ", text);
}

// The two lists have as many elements, n and m.
absl::Status SameLength(std::string_view a, int64_t n, std::string_view b, int64_t m) {
  return n == m ? absl::OkStatus() : Invalid("len(", a, ") != len(", b, ")");
}

// One type for each sparse column.
absl::Status CheckSparseTypes(InferenceContext& c, int64_t sparse) {
  TENON_ASSIGN_OR_RETURN(const int64_t types, CountTypes(c, "sparse_types"));
  return SameLength("sparse_keys", sparse, "sparse_types", types);
}

// One type and one of these shapes for each key of a dense column.
absl::Status CheckDenseColumns(InferenceContext& c, int64_t keys,
                               absl::Span<const PartialShape> shapes) {
  TENON_ASSIGN_OR_RETURN(const int64_t types, CountTypes(c, "Tdense"));
  TENON_RETURN_IF_ERROR(SameLength("dense_keys", keys, "dense_types", types));
  return SameLength("dense_keys", keys, "dense_shapes", static_cast<int64_t>(shapes.size()));
}

// Sets the outputs of one kind of columns after the other.
class Columns {
 public:
  explicit Columns(InferenceContext& c) : c_(c) {}

  // Indices, values and shapes of sparse columns.
  void Sparse(int64_t n, int64_t rank) {
    for (int64_t i = 0; i < n; ++i) Add(Matrix(kUnknownDim, rank));
    for (int64_t i = 0; i < n; ++i) Add(Vector(kUnknownDim));
    for (int64_t i = 0; i < n; ++i) Add(Vector(rank));
  }
  void Dense(const PartialShape& before, absl::Span<const PartialShape> shapes) {
    for (const PartialShape& shape : shapes) Add(Concatenate(before, shape));
  }
  void Each(int64_t n, const PartialShape& shape) {
    for (int64_t i = 0; i < n; ++i) Add(shape);
  }
  // Where the rows of ragged columns begin, and where the last ends: one more than there are rows.
  void Splits(int64_t n, const PartialShape& batch) {
    const int64_t rows = batch.rank() == 1 ? batch.dim(0) : kUnknownDim;
    Each(n, Vector(rows < 0 ? kUnknownDim : rows + 1));
  }

 private:
  void Add(const PartialShape& shape) { c_.set_output(at_++, shape); }
  InferenceContext& c_;
  int at_ = 0;
};

// The rank of a batch and `more` dimensions.
int64_t RankOf(const PartialShape& batch, int more) {
  return batch.known_rank() ? batch.rank() + more : kUnknownDim;
}

}  // namespace

// A vector of examples, their names, keys of sparse and of dense columns, defaults of dense ones.
absl::Status ParseExampleShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, c.AttrInt("Nsparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t keys, c.AttrInt("Ndense"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> dense, DenseShapes(c));
  TENON_RETURN_IF_ERROR(CheckSparseTypes(c, sparse));
  TENON_RETURN_IF_ERROR(CheckDenseColumns(c, keys, dense));
  TENON_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRank(c.input(0), 1));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(1), 1).status());
  Columns columns(c);
  columns.Sparse(sparse, 2);
  columns.Dense(batch, dense);
  return absl::OkStatus();
}

// One string is one example; a vector of them is a batch. Ragged columns come last.
absl::Status ParseExampleV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, c.AttrInt("num_sparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t ragged, CountTypes(c, "ragged_value_types"));
  TENON_ASSIGN_OR_RETURN(const int64_t ragged_splits, CountTypes(c, "ragged_split_types"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> dense, DenseShapes(c));
  TENON_ASSIGN_OR_RETURN(const int64_t dense_types, CountTypes(c, "Tdense"));
  TENON_RETURN_IF_ERROR(CheckSparseTypes(c, sparse));
  TENON_RETURN_IF_ERROR(
      SameLength("dense_keys", dense_types, "dense_shapes", static_cast<int64_t>(dense.size())));
  TENON_RETURN_IF_ERROR(SameLength("ragged_keys", ragged, "ragged_split_types", ragged_splits));
  TENON_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRankAtMost(c.input(0), 1));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(1), 1).status());
  Columns columns(c);
  columns.Sparse(sparse, RankOf(batch, 1));
  columns.Dense(batch, dense);
  columns.Each(ragged, Vector(kUnknownDim));
  columns.Splits(ragged, batch);
  return absl::OkStatus();
}

absl::Status ParseSingleExampleShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, c.AttrInt("num_sparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t sparse_keys, CountStrings(c, "sparse_keys"));
  TENON_ASSIGN_OR_RETURN(const int64_t sparse_types, CountTypes(c, "sparse_types"));
  TENON_RETURN_IF_ERROR(SameCount("num_sparse", sparse,
                                  {{"sparse_keys", sparse_keys}, {"sparse_types", sparse_types}}));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> dense, DenseShapes(c));
  TENON_ASSIGN_OR_RETURN(const int64_t keys, CountStrings(c, "dense_keys"));
  TENON_RETURN_IF_ERROR(CheckDenseColumns(c, keys, dense));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), 0).status());
  Columns columns(c);
  columns.Sparse(sparse, 1);
  columns.Dense(Shape(), dense);
  return absl::OkStatus();
}

namespace {

// The columns of the context and of the feature lists of sequences.
struct SequenceColumns {
  int64_t context_sparse = 0, feature_sparse = 0, feature_dense = 0;
  int64_t context_ragged = 0, feature_ragged = 0;
  std::vector<PartialShape> context_dense, feature_shapes;
};

absl::StatusOr<SequenceColumns> SequenceColumnsOf(InferenceContext& c) {
  SequenceColumns s;
  TENON_ASSIGN_OR_RETURN(s.context_sparse, c.AttrInt("Ncontext_sparse"));
  TENON_ASSIGN_OR_RETURN(s.feature_sparse, c.AttrInt("Nfeature_list_sparse"));
  TENON_ASSIGN_OR_RETURN(s.feature_dense, c.AttrInt("Nfeature_list_dense"));
  TENON_ASSIGN_OR_RETURN(s.context_dense, KnownShapes(c, "context_dense_shapes"));
  TENON_ASSIGN_OR_RETURN(s.feature_shapes, KnownShapes(c, "feature_list_dense_shapes"));
  TENON_ASSIGN_OR_RETURN(const int64_t context_dense_types, CountTypes(c, "Tcontext_dense"));
  int64_t context_dense = context_dense_types;
  const bool keys = c.HasAttr("context_sparse_keys");
  if (keys) {
    TENON_ASSIGN_OR_RETURN(context_dense, c.AttrInt("Ncontext_dense"));
    for (const auto& [what, name, n] :
         {std::tuple("num_context_sparse", "context_sparse_keys", s.context_sparse),
          std::tuple("num_context_dense", "context_dense_keys", context_dense),
          std::tuple("num_feature_list_sparse", "feature_list_sparse_keys", s.feature_sparse),
          std::tuple("num_feature_list_dense", "feature_list_dense_keys", s.feature_dense)}) {
      TENON_ASSIGN_OR_RETURN(const int64_t strings, CountStrings(c, name));
      TENON_RETURN_IF_ERROR(SameCount(what, n, {{name, strings}}));
    }
  }
  TENON_ASSIGN_OR_RETURN(const int64_t context_types, CountTypes(c, "context_sparse_types"));
  TENON_RETURN_IF_ERROR(
      SameCount("num_context_sparse", s.context_sparse, {{"context_sparse_types", context_types}}));
  TENON_RETURN_IF_ERROR(
      SameCount("num_context_dense", context_dense,
                {{"context_dense_types", context_dense_types},
                 {"context_dense_shapes", static_cast<int64_t>(s.context_dense.size())}}));
  int64_t splits = 0;
  if (!keys) {
    TENON_ASSIGN_OR_RETURN(s.context_ragged, CountTypes(c, "context_ragged_value_types"));
    TENON_ASSIGN_OR_RETURN(splits, CountTypes(c, "context_ragged_split_types"));
    TENON_RETURN_IF_ERROR(SameCount("num_context_ragged", s.context_ragged,
                                    {{"context_ragged_value_types", s.context_ragged},
                                     {"context_ragged_split_types", splits}}));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t feature_types, CountTypes(c, "feature_list_sparse_types"));
  TENON_RETURN_IF_ERROR(SameCount("num_feature_list_sparse", s.feature_sparse,
                                  {{"feature_list_sparse_types", feature_types}}));
  TENON_ASSIGN_OR_RETURN(const int64_t dense_types, CountTypes(c, "feature_list_dense_types"));
  TENON_RETURN_IF_ERROR(
      SameCount("num_feature_list_dense", s.feature_dense,
                {{"feature_list_dense_types", dense_types},
                 {"feature_list_dense_shapes", static_cast<int64_t>(s.feature_shapes.size())}}));
  if (!keys) {
    TENON_ASSIGN_OR_RETURN(s.feature_ragged, CountTypes(c, "feature_list_ragged_value_types"));
    TENON_ASSIGN_OR_RETURN(splits, CountTypes(c, "feature_list_ragged_split_types"));
    TENON_RETURN_IF_ERROR(SameCount("num_feature_list_ragged", s.feature_ragged,
                                    {{"feature_list_ragged_value_types", s.feature_ragged},
                                     {"feature_list_ragged_split_types", splits}}));
  }
  return s;
}

// The columns of a batch of sequences; ragged feature lists have rows in rows.
absl::Status SetSequences(InferenceContext& c, const SequenceColumns& s,
                          const PartialShape& batch) {
  Columns columns(c);
  columns.Sparse(s.context_sparse, RankOf(batch, 1));
  columns.Dense(batch, s.context_dense);
  columns.Each(s.context_ragged, Vector(kUnknownDim));
  columns.Splits(s.context_ragged, batch);
  columns.Sparse(s.feature_sparse, RankOf(batch, 2));
  columns.Dense(Concatenate(batch, Vector(kUnknownDim)), s.feature_shapes);
  columns.Each(s.feature_dense, batch);
  columns.Each(s.feature_ragged, Vector(kUnknownDim));
  columns.Splits(s.feature_ragged, batch);
  columns.Each(s.feature_ragged, Vector(kUnknownDim));
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseSequenceExampleShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const SequenceColumns s, SequenceColumnsOf(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRank(c.input(0), 1));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(1), 1).status());
  return SetSequences(c, s, batch);
}

absl::Status ParseSequenceExampleV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const SequenceColumns s, SequenceColumnsOf(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRankAtMost(c.input(0), 1));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(1), 1).status());
  return SetSequences(c, s, batch);
}

// One sequence; keys are inputs, one for each column.
absl::Status ParseSingleSequenceExampleShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> context_shapes,
                         KnownShapes(c, "context_dense_shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> feature_shapes,
                         KnownShapes(c, "feature_list_dense_shapes"));
  std::array<int64_t, 4> keys{};
  size_t at = 0;
  for (const std::string_view list :
       {"context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense"}) {
    TENON_ASSIGN_OR_RETURN(keys[at], c.AttrInt(absl::StrCat("N", list)));
    const std::string types =
        list == "context_dense" ? "Tcontext_dense" : absl::StrCat(list, "_types");
    TENON_ASSIGN_OR_RETURN(const int64_t n, CountTypes(c, types));
    const std::string of_keys = absl::StrCat(list, "_keys");
    TENON_RETURN_IF_ERROR(SameLength(of_keys, keys[at], absl::StrCat(list, "_types"), n));
    if (list.ends_with("dense")) {
      const size_t shapes = at == 1 ? context_shapes.size() : feature_shapes.size();
      TENON_RETURN_IF_ERROR(SameLength(of_keys, keys[at], absl::StrCat(list, "_shapes"),
                                       static_cast<int64_t>(shapes)));
    }
    ++at;
  }
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0, 1}));
  Columns columns(c);
  columns.Sparse(keys[0], 1);
  columns.Dense(Shape(), context_shapes);
  columns.Sparse(keys[2], 2);
  columns.Dense(Vector(kUnknownDim), feature_shapes);
  return absl::OkStatus();
}

// Messages -> how often each field is there, then the fields' values.
absl::Status DecodeProtoShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t fields, CountTypes(c, "output_types"));
  c.set_output(0, Concatenate(c.input(0), Vector(fields)));
  for (int i = 1; i < c.num_outputs(); ++i)
    c.set_output(i, Concatenate(c.input(0), Vector(kUnknownDim)));
  return absl::OkStatus();
}

// Numbers of values, then the values of each field, whose last dimension has those of a message.
absl::Status EncodeProtoShape(InferenceContext& c) {
  PartialShape messages;
  for (int i = c.num_inputs() - 1; i > 0; --i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape values, c.WithRankAtLeast(c.input(i), 2));
    TENON_ASSIGN_OR_RETURN(messages, MergeShapes(Subshape(values, 0, -1), messages));
  }
  c.set_output(0, std::move(messages));
  return absl::OkStatus();
}

}  // namespace tenon::ops
