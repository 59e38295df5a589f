#include "executor/cli/signatures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/tensor_text.h"

namespace tenon::cli {
namespace {

// "(-1, 4)", "()" or "unknown_rank".
std::string ShapeText(const PartialShape& shape) {
  return shape.known_rank() ? absl::StrCat("(", absl::StrJoin(shape.dims(), ", "), ")")
                            : "unknown_rank";
}

struct Line {
  std::string role;  // "inputs['x']"
  const SignatureTensor* tensor;
};

std::string SignatureText(const Signature& signature, const Style& style) {
  std::vector<Line> lines;
  for (const SignatureTensor& t : signature.inputs)
    lines.push_back({absl::StrCat("inputs['", t.name, "']"), &t});
  for (const SignatureTensor& t : signature.outputs)
    lines.push_back({absl::StrCat("outputs['", t.name, "']"), &t});
  Table table({"tensor", "dtype", "shape", "name"});
  for (const Line& line : lines) {
    table.Row({style.Bold(line.role), std::string(DataTypeName(line.tensor->dtype)),
               ShapeText(line.tensor->shape),
               absl::StrCat(line.tensor->tensor,
                            line.tensor->default_value.initialized() ? "  (has a default)" : "")});
  }
  return absl::StrCat("signature_def['", style.Bold(signature.name), "']",
                      signature.method.empty()
                          ? ""
                          : absl::StrCat("  ", style.Dim("method name: "), signature.method),
                      "\n", table.empty() ? "" : table.Text(style, "  "));
}

Json TensorsJson(const std::vector<SignatureTensor>& tensors) {
  Json array = Json::Array();
  for (const SignatureTensor& t : tensors) {
    Json json = NamedTypeJson(t.name, t.dtype, t.shape);
    json.Set("tensor", t.tensor);
    if (t.default_value.initialized()) json.Set("has_default", true);
    array.Push(std::move(json));
  }
  return array;
}

}  // namespace

Json NamedTypeJson(std::string_view name, DataType dtype, const PartialShape& shape) {
  Json json = Json::Object();
  json.Set("name", name)
      .Set("dtype", DataTypeShortName(dtype))
      .Set("shape", shape.known_rank() ? Json::ArrayOf(shape.dims()) : Json());
  return json;
}

std::string SignaturesText(const SavedModel& model, const Style& style) {
  std::string text;
  for (const MetaGraph& meta : model.meta_graphs) {
    absl::StrAppend(&text, "MetaGraphDef with tag-set: '", absl::StrJoin(meta.tags, ", "), "'",
                    &meta == &model.meta() || model.meta_graphs.size() == 1
                        ? ""
                        : style.Dim("  (not the one that runs)"),
                    "\n\n");
    for (const Signature& signature : meta.signatures)
      absl::StrAppend(&text, SignatureText(signature, style), "\n");
  }
  return text;
}

Json SignaturesJson(const SavedModel& model) {
  Json array = Json::Array();
  for (const MetaGraph& meta : model.meta_graphs) {
    for (const Signature& signature : meta.signatures) {
      Json json = Json::Object();
      json.Set("name", signature.name)
          .Set("tags", Json::ArrayOf(meta.tags))
          .Set("method", signature.method)
          .Set("inputs", TensorsJson(signature.inputs))
          .Set("outputs", TensorsJson(signature.outputs));
      array.Push(std::move(json));
    }
  }
  return array;
}

}  // namespace tenon::cli
