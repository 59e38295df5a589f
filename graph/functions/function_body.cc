// Reads FunctionDefs without protobuf objects, as views of their bytes, and fills in the attributes
// that a call gives ("$T").

#include "graph/functions/function_body.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_fields.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

constexpr int kMaxDepth = 32;  // of functions named in attributes of functions

Attr ParseEntry(std::string_view entry) {
  Attr attr;
  WireReader reader(entry);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == kKey) attr.name = f.bytes;
    if (f.number == kValue) attr.value = AttrValue(f.bytes);
  }
  return attr;
}

// Sorts by name. Of equal names the last wins, as in a protobuf map.
void SortAttrs(std::vector<Attr>& attrs) {
  const auto by_name = [](const Attr& a, const Attr& b) { return a.name < b.name; };
  // Most writers sort them, and the sort would allocate.
  if (!std::is_sorted(attrs.begin(), attrs.end(), by_name))
    std::stable_sort(attrs.begin(), attrs.end(), by_name);
  size_t kept = 0;
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (i + 1 < attrs.size() && attrs[i + 1].name == attrs[i].name) continue;
    attrs[kept++] = attrs[i];
  }
  attrs.resize(kept);
}

// Adds nodes to a body. Nodes with the same op and the same bytes of attributes share a kind, so
// that these are read once.
class NodeParser {
 public:
  NodeParser(const Graph& graph, FunctionBody& body) : graph_(graph), body_(body) {}

  void Add(std::string_view wire) {
    BodyNode& node = body_.nodes.emplace_back();
    std::string_view op_name;
    Attrs attrs;
    WireReader reader(wire);
    WireField f;
    while (reader.Next(&f)) {
      if (f.type != WireType::kBytes) continue;
      if (f.number == kNodeName) node.name = f.bytes;
      if (f.number == kNodeOp) op_name = f.bytes;
      if (f.number == kNodeInput) body_.inputs.push_back(f.bytes);
      if (f.number == kNodeDevice) node.device = f.bytes;
      if (f.number == kNodeAttr) attrs.Add(f.raw);
      if (f.number == kNodeDebugInfo) node.debug_info = f.raw;
    }
    ends_.push_back(body_.inputs.size());
    node.kind = KindOf(op_name, attrs, wire);
  }

  // Call it after the last Add.
  void SetInputs() {
    size_t begin = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      body_.nodes[i].inputs = absl::MakeConstSpan(body_.inputs).subspan(begin, ends_[i] - begin);
      begin = ends_[i];
    }
  }

 private:
  // The fields of a node's attributes.
  struct Attrs {
    std::string_view bytes;  // from the first on
    bool adjoin = true;      // no other field stands between them

    void Add(std::string_view field) {
      if (bytes.empty()) bytes = field.substr(0, 0);
      adjoin &= bytes.data() + bytes.size() == field.data();
      bytes = std::string_view(bytes.data(), field.data() + field.size() - bytes.data());
    }
  };

  const BodyKind* KindOf(std::string_view op_name, const Attrs& attrs, std::string_view wire) {
    // To hash and compare large constants would cost more than to share kinds saves.
    if (!attrs.adjoin || attrs.bytes.size() > kMaxInternedBytes) return AddKind(op_name, wire);
    const BodyKind*& kind = by_bytes_[{op_name, attrs.bytes}];
    if (kind == nullptr) kind = AddKind(op_name, wire);
    return kind;
  }

  const BodyKind* AddKind(std::string_view op_name, std::string_view wire) {
    std::vector<Attr> attrs;
    WireReader reader(wire);
    WireField f;
    while (reader.Next(&f)) {
      if (f.number == kNodeAttr && f.type == WireType::kBytes) attrs.push_back(ParseEntry(f.bytes));
    }
    SortAttrs(attrs);
    BodyKind kind{op_name, graph_.FindOp(op_name), AttrSet(std::move(attrs))};
    return body_.kinds.emplace_back(std::make_unique<const BodyKind>(std::move(kind))).get();
  }

  const Graph& graph_;
  FunctionBody& body_;
  std::vector<size_t> ends_;  // by node: where its inputs end
  absl::flat_hash_map<std::pair<std::string_view, std::string_view>, const BodyKind*> by_bytes_;
};

// Replaces placeholders in nested messages. Each function returns nullopt where nothing changes, so
// that unchanged bytes are not copied.
class Binder {
 public:
  explicit Binder(const AttrSet& arguments) : arguments_(arguments) {}

  absl::StatusOr<std::optional<std::string>> Value(std::string_view wire, int depth) const {
    return Rewrite(wire, [&](const WireField& f) -> absl::StatusOr<std::optional<std::string>> {
      if (f.number == kAttrPlaceholder) return Placeholder(f.bytes);
      if (f.number == kAttrFunc) return Nested(f, Func(f.bytes, depth + 1));
      if (f.number == kAttrList) return Nested(f, List(f.bytes, depth));
      return std::nullopt;
    });
  }

 private:
  using Changed = absl::StatusOr<std::optional<std::string>>;

  // The bytes of the argument's AttrValue, which take the place of the placeholder's field.
  Changed Placeholder(std::string_view name) const {
    const AttrValue* value = arguments_.Find(name);
    if (value == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("the call gives no value for the attribute '$", name, "'"));
    return std::string(value->wire());
  }

  Changed List(std::string_view wire, int depth) const {
    return Rewrite(wire, [&](const WireField& f) -> Changed {
      return f.number == kListFunc ? Nested(f, Func(f.bytes, depth + 1)) : std::nullopt;
    });
  }

  Changed Func(std::string_view wire, int depth) const {
    if (depth > kMaxDepth)
      return absl::InvalidArgumentError("functions in attributes are nested too deeply");
    return Rewrite(wire, [&](const WireField& f) -> Changed {
      return f.number == kFuncAttr ? Nested(f, Entry(f.bytes, depth)) : std::nullopt;
    });
  }

  Changed Entry(std::string_view wire, int depth) const {
    return Rewrite(wire, [&](const WireField& f) -> Changed {
      return f.number == kValue ? Nested(f, Value(f.bytes, depth)) : std::nullopt;
    });
  }

  // The changed message as a field with the number of `f`.
  static Changed Nested(const WireField& f, Changed message) {
    if (!message.ok() || !message->has_value()) return message;
    std::string field;
    WireWriter(&field).Bytes(f.number, **message);
    return field;
  }

  template <typename Each>
  static Changed Rewrite(std::string_view wire, Each each) {
    std::string out;
    bool changed = false;
    WireReader reader(wire);
    WireField f;
    while (reader.Next(&f)) {
      Changed field = std::optional<std::string>();
      if (f.type == WireType::kBytes) field = each(f);
      TENON_RETURN_IF_ERROR(field.status());
      changed |= field->has_value();
      out.append(field->has_value() ? std::string_view(**field) : f.raw);
    }
    if (!changed) return std::nullopt;
    return out;
  }

  const AttrSet& arguments_;
};

}  // namespace

FunctionBody ParseFunctionBody(const Graph& graph, const FunctionEntry& function) {
  FunctionBody body;
  NodeParser nodes(graph, body);
  WireReader reader(function.wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == kFunctionNode) nodes.Add(f.bytes);
    if (f.number == kFunctionRet) body.returns.push_back(ParseEntry(f.bytes));
    if (f.number == kFunctionAttr) body.attrs.push_back(ParseEntry(f.bytes));
    if (f.number == kFunctionControlRet) body.control_returns.push_back(ParseEntry(f.bytes));
  }
  nodes.SetInputs();
  SortAttrs(body.attrs);
  return body;
}

absl::flat_hash_map<uint64_t, AttrSet> ParseArgAttrs(const FunctionEntry& function) {
  absl::flat_hash_map<uint64_t, AttrSet> all;
  WireReader reader(function.wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kArgAttr || f.type != WireType::kBytes) continue;
    uint64_t number = 0;
    std::vector<Attr> attrs;
    WireReader entry(f.bytes);
    WireField part;
    while (entry.Next(&part)) {
      if (part.number == kKey && part.type == WireType::kVarint) number = part.scalar;
      if (part.number != kValue || part.type != WireType::kBytes) continue;
      WireReader values(part.bytes);
      WireField value;
      while (values.Next(&value)) {
        if (value.number == kArgAttrsAttr && value.type == WireType::kBytes)
          attrs.push_back(ParseEntry(value.bytes));
      }
    }
    SortAttrs(attrs);
    all.insert_or_assign(number, AttrSet(std::move(attrs)));
  }
  return all;
}

absl::flat_hash_map<std::string_view, std::string_view> SourcesOfResults(
    const std::vector<Attr>& returns) {
  absl::flat_hash_map<std::string_view, std::string_view> sources;
  for (const Attr& entry : returns) sources.try_emplace(entry.name, entry.value.wire());
  return sources;
}

AttrSet ParseFuncAttrs(const FuncAttr& func) {
  std::vector<Attr> attrs;
  WireReader reader(func.attrs_wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kFuncAttr && f.type == WireType::kBytes) attrs.push_back(ParseEntry(f.bytes));
  }
  SortAttrs(attrs);
  return AttrSet(std::move(attrs));
}

absl::StatusOr<std::optional<std::string>> BindAttr(AttrValue value, const AttrSet& arguments) {
  return Binder(arguments).Value(value.wire(), 0);
}

}  // namespace tenon
