#include "executor/op_headers/wrapper.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/op_headers/cpp_text.h"
#include "graph/base/status_macros.h"

namespace tenon::op_headers {
namespace {

bool IsList(const ArgDef& arg) { return !arg.number_attr.empty() || !arg.type_list_attr.empty(); }

std::string ArgTypeName(const ArgDef& arg) {
  return IsList(arg) ? absl::StrCat("std::vector<", TypeName("Tensor"), ">") : TypeName("Tensor");
}

// "{'SAME', 'VALID'}" as "\"SAME\" or \"VALID\"".
std::string AllowedText(const AttrDef& attr) {
  std::vector<std::string> values;
  for (const std::string& value : attr.allowed_strings) values.push_back(StringLiteral(value));
  return absl::StrJoin(values, " or ");
}

// A line of comment for "name: text".
std::string NamedLine(std::string_view name, std::string_view text) {
  return Comment(0, absl::StrCat("  ", name, ": ", text), 6);
}

class Wrapper {
 public:
  Wrapper(const OpDef& op, const OpText& text) : op_(op), text_(text) {
    for (const ArgDef& input : op.inputs) {
      decided_.insert({input.type_attr, input.number_attr, input.type_list_attr});
      NameParameter(input.name);
      lengths_.try_emplace(input.number_attr, parameters_[input.name] + ".size()");
      lengths_.try_emplace(input.type_list_attr, parameters_[input.name] + ".size()");
    }
    for (const AttrDef& attr : op.attrs) {
      if (decided_.contains(attr.name)) continue;
      (attr.has_default ? optional_ : required_).push_back(&attr);
    }
    // An attribute may have the name of an input.
    for (const AttrDef* const attr : required_) attr_names_[attr->name] = names_.Take(attr->name);
    Names members;
    for (const AttrDef* const attr : optional_) attr_names_[attr->name] = members.Take(attr->name);
  }

  absl::StatusOr<std::string> Text() {
    TENON_RETURN_IF_ERROR(AddAttrs());
    AddOutputs();
    AddComment();
    AddSignature();
    TENON_RETURN_IF_ERROR(AddBody());
    return std::move(out_);
  }

 private:
  void NameParameter(const std::string& name) { parameters_[name] = names_.Take(name); }

  absl::Status AddAttrs() {
    if (optional_.empty()) return absl::OkStatus();
    absl::StrAppend(&out_, "// Optional attributes of ", op_.name, ".\nstruct ", op_.name,
                    "Attrs {\n");
    for (const AttrDef* const attr : optional_) {
      const std::string_view said = text_.Find(attr->name);
      const std::string comment(said.empty() ? AllowedText(*attr) : said);
      if (!comment.empty()) absl::StrAppend(&out_, Comment(2, comment));
      TENON_ASSIGN_OR_RETURN(const std::string initial, DefaultText(*attr));
      absl::StrAppend(&out_, "  ", AttrTypeName(*attr), " ", attr_names_[attr->name], " = ",
                      initial, ";\n");
    }
    absl::StrAppend(&out_, "};\n");
    return absl::OkStatus();
  }

  void AddOutputs() {
    if (op_.outputs.size() < 2) return;
    absl::StrAppend(&out_, "// What ", op_.name, " gives.\nstruct ", op_.name, "Outputs {\n");
    Names members;
    std::string all;
    for (const ArgDef& output : op_.outputs) {
      const std::string member = members.Take(output.name);
      absl::StrAppend(&out_, "  ", ArgTypeName(output), " ", member, ";\n");
      absl::StrAppend(&all, all.empty() ? "" : ", ", member);
    }
    // So that the callable of a Function may give it.
    absl::StrAppend(&out_, "  auto Fields() {\n    return std::tie(", all, ");\n  }\n};\n");
  }

  void AddComment() {
    absl::StrAppend(&out_, Comment(0, text_.sentence));
    for (const auto& [name, text] : text_.lines) {
      const auto is_of = [&](const AttrDef* attr) { return attr->name == name; };
      if (std::none_of(optional_.begin(), optional_.end(), is_of)) {
        absl::StrAppend(&out_, NamedLine(name, text));
      }
    }
    for (const AttrDef* const attr : required_) {
      const std::string allowed = AllowedText(*attr);
      if (!allowed.empty() && text_.Find(attr->name).empty()) {
        absl::StrAppend(&out_, NamedLine(attr->name, allowed));
      }
    }
  }

  void AddSignature() {
    std::vector<std::string> parameters;
    for (const ArgDef& input : op_.inputs) {
      parameters.push_back(absl::StrCat("const ",
                                        IsList(input) ? ArgTypeName(input) : TypeName("Input"),
                                        "& ", parameters_[input.name]));
    }
    for (const AttrDef* const attr : required_) {
      const bool is_small =
          !attr->is_list && (attr->kind == AttrKind::kInt || attr->kind == AttrKind::kFloat ||
                             attr->kind == AttrKind::kBool || attr->kind == AttrKind::kType);
      const std::string type = AttrTypeName(*attr);
      parameters.push_back(absl::StrCat(is_small ? type : absl::StrCat("const ", type, "&"), " ",
                                        attr_names_[attr->name]));
    }
    if (!optional_.empty()) {
      parameters.push_back(absl::StrCat("const ", op_.name, "Attrs& attrs = {}"));
    }
    const std::string where = TypeName("Where");
    parameters.push_back(absl::StrCat(where, " where = ", where, "::current()"));

    if (op_.deprecated_since > 0) {
      absl::StrAppend(&out_, "[[deprecated(", StringLiteral(op_.deprecation), ")]]\n");
    }
    std::string result = "void";
    if (op_.outputs.size() == 1) result = ArgTypeName(op_.outputs[0]);
    if (op_.outputs.size() > 1) result = absl::StrCat(op_.name, "Outputs");
    std::string begin = absl::StrCat("inline ", result, " ", op_.name, "(");
    if (begin.size() > 100) begin = absl::StrCat("inline ", result, "\n", op_.name, "(");
    absl::StrAppend(&out_, Fill(begin, parameters, ") {"), "\n");
  }

  absl::Status AddBody() {
    absl::StrAppend(&out_, "  Op op(\"", op_.name, "\", where);\n");
    for (const ArgDef& input : op_.inputs) {
      absl::StrAppend(&out_, "  op.Input(", parameters_[input.name],
                      IsList(input) ? "" : ".tensor()", ");\n");
    }
    for (const AttrDef* const attr : required_) {
      absl::StrAppend(&out_, "  op.Attr(\"", attr->name, "\", ", attr_names_[attr->name], ");\n");
    }
    for (const AttrDef* const attr : optional_) {
      const std::string value = absl::StrCat("attrs.", attr_names_[attr->name]);
      TENON_ASSIGN_OR_RETURN(const std::string differs, DiffersText(*attr, value));
      const std::string test = absl::StrCat("  if (", differs, ")");
      const std::string set = absl::StrCat("op.Attr(\"", attr->name, "\", ", value, ");\n");
      const bool fits = test.size() + set.size() <= 100;
      absl::StrAppend(&out_, test, fits ? " " : " {\n    ", set, fits ? "" : "  }\n");
    }
    if (op_.outputs.empty()) {
      absl::StrAppend(&out_, "  op.RunNone();\n");
    } else if (op_.outputs.size() == 1) {
      absl::StrAppend(&out_, "  return op.Run", IsList(op_.outputs[0]) ? "" : "One", "();\n");
    } else {
      std::vector<std::string> members;
      for (const ArgDef& output : op_.outputs) members.push_back(TakeText(output));
      absl::StrAppend(&out_, "  internal::OutputReader outputs(op);\n",
                      Fill("  return {", members, "};"), "\n");
    }
    absl::StrAppend(&out_, "}\n");
    return absl::OkStatus();
  }

  // How the next output is read.
  std::string TakeText(const ArgDef& output) {
    if (!IsList(output)) return "outputs.One()";
    const std::string& attr =
        output.number_attr.empty() ? output.type_list_attr : output.number_attr;
    const auto length = lengths_.find(attr);
    if (length != lengths_.end()) return absl::StrCat("outputs.List(", length->second, ")");
    const auto is_of = [&](const AttrDef* other) { return other->name == attr; };
    const bool is_optional = std::any_of(optional_.begin(), optional_.end(), is_of);
    return absl::StrCat("outputs.List(", is_optional ? "attrs." : "", attr_names_[attr],
                        output.number_attr.empty() ? ".size()" : "", ")");
  }

  const OpDef& op_;
  const OpText& text_;
  Names names_{{"op", "attrs", "where", "outputs"}};  // of parameters
  std::set<std::string> decided_;                     // attributes that the inputs decide
  std::map<std::string, std::string> parameters_;     // of inputs
  std::map<std::string, std::string> lengths_;  // of lists, by the attribute that inputs decide
  std::vector<const AttrDef*> required_, optional_;
  std::map<std::string, std::string> attr_names_;
  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> WrapperText(const OpDef& op, const OpText& text) {
  return Wrapper(op, text).Text();
}

}  // namespace tenon::op_headers
