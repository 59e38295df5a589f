// Full types of results and the mark of ops that communicate. They follow from names and signatures
// by a few rules, so that the rows of graph/ops, of which there are 1,800, need not say them.
#include "graph/op_defs/full_types.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

namespace tenon {
namespace {

using FullType = pb::FullTypeDef;

FullType Of(pb::FullTypeId id, std::initializer_list<FullType> args = {}) {
  FullType type;
  type.set_type_id(id);
  for (const FullType& arg : args) *type.add_args() = arg;
  return type;
}

// The type in the attribute.
FullType TypeIn(std::string_view attr) {
  FullType type = Of(pb::TFT_VAR);
  type.set_s(std::string(attr));
  return type;
}

FullType TensorOf(FullType element) { return Of(pb::TFT_TENSOR, {std::move(element)}); }

// A tuple with a tensor for each type in the attribute.
FullType TupleOf(std::string_view attr) {
  return Of(pb::TFT_FOR_EACH, {Of(pb::TFT_PRODUCT), TensorOf(TypeIn(attr)), TypeIn(attr)});
}

template <size_t kCount>
bool IsOneOf(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool HasAttr(const pb::OpDef& op, std::string_view name) {
  return std::any_of(op.attr().begin(), op.attr().end(),
                     [&](const pb::OpDef::AttrDef& attr) { return attr.name() == name; });
}

// Whether the op's first result is a dataset.
bool GivesDataset(std::string_view name) {
  constexpr std::string_view kOthers[] = {"SnapshotDatasetReader", "SnapshotNestedDatasetReader",
                                          "WindowOp"};
  if (name == "SaveDatasetV2") return false;  // TensorFlow's has no full type
  const size_t version = name.size() < 2 ? std::string_view::npos : name.rfind('V');
  if (version == name.size() - 2) name.remove_suffix(2);
  return name.ends_with("Dataset") || IsOneOf(name, kOthers);
}

FullType ElementOfDataset(const pb::OpDef& op) {
  constexpr std::string_view kOfTexts[] = {"ExperimentalMatchingFilesDataset",
                                           "FixedLengthRecordDataset",
                                           "FixedLengthRecordDatasetV2",
                                           "MatchingFilesDataset",
                                           "TFRecordDataset",
                                           "TFRecordDatasetV2",
                                           "TextLineDataset"};
  if (HasAttr(op, "output_types")) return TupleOf("output_types");
  if (HasAttr(op, "Toutput_types")) return TupleOf("Toutput_types");
  if (IsOneOf(op.name(), kOfTexts)) return TensorOf(Of(pb::TFT_STRING));
  return op.name() == "SparseTensorSliceDataset" ? TensorOf(TypeIn("Tvalues")) : FullType();
}

// The type of a first result that is a variant.
FullType TypeOfVariant(const pb::OpDef& op) {
  const std::string_view name = op.name();
  if (GivesDataset(name)) {
    const FullType element = ElementOfDataset(op);
    return element.type_id() == pb::TFT_UNSET ? element : Of(pb::TFT_DATASET, {element});
  }
  if (name.find("TensorList") != std::string_view::npos) {
    return HasAttr(op, "element_dtype") && name != "TensorListPopBack"
               ? Of(pb::TFT_ARRAY, {TensorOf(TypeIn("element_dtype"))})
               : FullType();
  }
  if (name == "DatasetFromGraph") return Of(pb::TFT_DATASET, {Of(pb::TFT_ANY)});
  if (name == "IteratorGetNextAsOptional") return Of(pb::TFT_OPTIONAL, {TupleOf("output_types")});
  if (name == "OptionalFromValue") return Of(pb::TFT_OPTIONAL, {TupleOf("Toutput_types")});
  if (name == "MutexLock") return Of(pb::TFT_MUTEX_LOCK);
  return name == "RaggedTensorToVariant" ? Of(pb::TFT_RAGGED, {TypeIn("Tvalues")}) : FullType();
}

bool Communicates(std::string_view name) {
  constexpr std::string_view kOthers[] = {"Batch",
                                          "BatchFunction",
                                          "Recv",
                                          "_HostRecv",
                                          "StatefulPartitionedCall",
                                          "TPUExecute",
                                          "_Recv",
                                          "TPUExecuteAndUpdateVariables"};
  return (name.starts_with("Collective") && name != "CollectivePermute") || IsOneOf(name, kOthers);
}

}  // namespace

void AddWhatTensorFlowHas(pb::OpDef& op) {
  op.set_is_distributed_communication(Communicates(op.name()));
  if (op.output_arg().empty()) return;
  pb::OpDef::ArgDef& result = *op.mutable_output_arg(0);
  FullType type;
  if (result.type() == pb::DT_VARIANT) type = TypeOfVariant(op);
  if (op.name() == "Shape") type = Of(pb::TFT_SHAPE_TENSOR, {TypeIn("out_type")});
  if (type.type_id() != pb::TFT_UNSET) *result.mutable_experimental_full_type() = std::move(type);
}

}  // namespace tenon
