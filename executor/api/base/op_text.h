// Ops, attributes and nodes as TensorFlow's messages show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"
#include "graph/op_defs/op_def.h"

namespace tenon::api {

// "float", "int32_ref"; "INVALID" for a value that is no type.
std::string TypeText(DataType type);
// "[2,?]", "<unknown>".
std::string ShapeText(const PartialShape& shape);

// "DT_FLOAT", "\"text\"", "[1, 2]", "Tensor<type: float shape: [] values: 3>", "f[T=DT_FLOAT]".
// Long strings and lists are cut in the middle.
std::string AttrText(const AttrValue& value);

// "Op<name=Neg; signature=x:T -> y:T; attr=T:type,allowed=[DT_BFLOAT16, …]>".
std::string OpText(const OpDef& op);

// "int", "list(type)": the type of an attribute, as OpDefs write it.
std::string AttrTypeText(const AttrDef& attr);

// "{{node x}}".
std::string NodeNameText(std::string_view name);
// "{{node x}} = MatMul[T=DT_FLOAT, transpose_a=false, …](a, b:1, ^c)". An attribute that the node
// does not set is shown with the default value of the op.
std::string NodeText(const Graph& graph, NodeId n);
// "{{node x}} = Relu[T=DT_FLOAT]": the same of an op that is executed alone.
std::string NodeText(std::string_view name, const OpDef& op, const AttrSet& given);

}  // namespace tenon::api
