// Full types of results and the mark of ops that communicate. They follow from names and signatures
// by a few rules, so that the rows of graph/ops, of which there are 1,800, need not say them.
#include "graph/op_defs/full_types.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/node_full_type.h"

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

// Of a type of elements; unset for those that TensorFlow's full types lack.
FullType ElementType(DataType type) {
  switch (type) {
    case DataType::kBool:
      return Of(pb::TFT_BOOL);
    case DataType::kUint8:
      return Of(pb::TFT_UINT8);
    case DataType::kUint16:
      return Of(pb::TFT_UINT16);
    case DataType::kUint32:
      return Of(pb::TFT_UINT32);
    case DataType::kUint64:
      return Of(pb::TFT_UINT64);
    case DataType::kInt8:
      return Of(pb::TFT_INT8);
    case DataType::kInt16:
      return Of(pb::TFT_INT16);
    case DataType::kInt32:
      return Of(pb::TFT_INT32);
    case DataType::kInt64:
      return Of(pb::TFT_INT64);
    case DataType::kHalf:
      return Of(pb::TFT_HALF);
    case DataType::kFloat:
      return Of(pb::TFT_FLOAT);
    case DataType::kDouble:
      return Of(pb::TFT_DOUBLE);
    case DataType::kComplex64:
      return Of(pb::TFT_COMPLEX64);
    case DataType::kComplex128:
      return Of(pb::TFT_COMPLEX128);
    case DataType::kString:
      return Of(pb::TFT_STRING);
    case DataType::kVariant:
      return Of(pb::TFT_LEGACY_VARIANT);
    default:  // as TensorFlow, which leaves out bfloat16 here too
      return {};
  }
}

// The types in the attribute, one or a list of them.
std::vector<DataType> TypesIn(absl::Span<const Attr> attrs, std::string_view name) {
  const auto attr =
      std::find_if(attrs.begin(), attrs.end(), [&](const Attr& a) { return a.name == name; });
  if (attr == attrs.end()) return {};
  if (const auto one = attr->value.AsType(); one.ok()) return {*one};
  return attr->value.AsTypeList().value_or(std::vector<DataType>());
}

// The type with `element` in the place of its variable. Types are three levels deep at most.
FullType WithElement(FullType type, const FullType& element) {
  if (type.type_id() == pb::TFT_VAR) return element;
  for (FullType& arg : *type.mutable_args()) arg = WithElement(arg, element);
  return type;
}

FullType Specialized(const FullType& type, absl::Span<const Attr> attrs) {
  if (type.type_id() == pb::TFT_FOR_EACH) {
    FullType all = type.args(0);
    for (const DataType t : TypesIn(attrs, type.args(2).s()))
      *all.add_args() = WithElement(type.args(1), ElementType(t));
    return all;
  }
  if (type.type_id() == pb::TFT_VAR) {
    const std::vector<DataType> types = TypesIn(attrs, type.s());
    return types.empty() ? FullType() : ElementType(types[0]);
  }
  FullType result = type;
  for (FullType& arg : *result.mutable_args()) arg = Specialized(arg, attrs);
  // Of a list of variants TensorFlow says no more.
  const bool of_variants =
      type.type_id() == pb::TFT_ARRAY && result.args(0).args(0).type_id() == pb::TFT_LEGACY_VARIANT;
  if (of_variants) result.clear_args();
  return result;
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

std::string NodeFullType(const OpDef& op, absl::Span<const Attr> attrs) {
  const bool may_have_one = op.name == "MakeIterator" || op.name == "Shape" ||
                            (!op.outputs.empty() && op.outputs[0].type == DataType::kVariant);
  if (!may_have_one) return "";
  pb::OpDef def;
  def.ParseFromString(OpDefToWire(op));
  FullType product = Of(pb::TFT_PRODUCT);
  bool found = op.outputs.empty();
  for (const pb::OpDef::ArgDef& result : def.output_arg()) {
    found |= result.has_experimental_full_type();
    *product.add_args() = Specialized(result.experimental_full_type(), attrs);
  }
  return found ? product.SerializeAsString() : "";
}

}  // namespace tenon
