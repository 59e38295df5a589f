#include "executor/cli/graphs/signatures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/values/tensor_text.h"

namespace tenon::cli {
namespace {

// "(-1, 4)", "()" or "unknown_rank".
std::string ShapeText(const PartialShape& shape) {
  return shape.known_rank() ? absl::StrCat("(", absl::StrJoin(shape.dims(), ", "), ")")
                            : "unknown_rank";
}

// One line of the table: a tensor, or a composite tensor as a whole.
struct Line {
  std::string role;  // "inputs['x']"
  DataType dtype;
  const PartialShape* shape;
  std::string tensor;
};

void AddLines(std::string_view role, const std::vector<SignatureTensor>& tensors,
              const std::vector<CompositeTensor>& composites, std::vector<Line>& lines) {
  const size_t begin = lines.size();
  const auto name = [&](const std::string& of) { return absl::StrCat(role, "['", of, "']"); };
  for (const SignatureTensor& t : tensors) {
    lines.push_back(
        {name(t.name), t.dtype, &t.shape,
         absl::StrCat(t.tensor, t.default_value.initialized() ? "  (has a default)" : "")});
  }
  for (const CompositeTensor& c : composites)
    lines.push_back({name(c.name), c.dtype, &c.shape, absl::StrCat("(", c.spec, ")")});
  std::stable_sort(lines.begin() + static_cast<ptrdiff_t>(begin), lines.end(),
                   [](const Line& a, const Line& b) { return a.role < b.role; });
}

std::string SignatureText(const Signature& signature, const Style& style) {
  std::vector<Line> lines;
  AddLines("inputs", signature.inputs, signature.composite_inputs, lines);
  AddLines("outputs", signature.outputs, signature.composite_outputs, lines);
  Table table({"tensor", "dtype", "shape", "name"});
  for (const Line& line : lines) {
    table.Row({style.Bold(line.role), std::string(DataTypeName(line.dtype)), ShapeText(*line.shape),
               line.tensor});
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
      .Set("dtype", dtype == DataType::kInvalid ? Json() : Json(DataTypeShortName(dtype)))
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
