// Defects of an op and its attributes; see verifier.h.
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/closest.h"
#include "graph/ir/colocation.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_registry.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/verify/verifier.h"
#include "graph/wire/wire_check.h"

namespace tenon {
namespace {

class KindChecker {
 public:
  KindChecker(const Graph& graph, const NodeKind& kind, const VerifyOptions& options,
              DefectLog* log)
      : graph_(graph), kind_(kind), options_(options), log_(log) {}

  std::vector<KindDefect> Run() && {
    if (kind_.op == nullptr) {
      AddUnknownOp();
    } else {
      CheckOp();
    }
    for (const Attr& a : kind_.attrs.all()) CheckValue(a);
    return std::move(defects_);
  }

 private:
  void Add(DefectCode code, std::string message) { defects_.push_back({code, std::move(message)}); }

  void AddUnknownOp() {
    Add(DefectCode::kUnknownOp, UnknownOpText(kind_.op_name, log_->MayHint()));
  }

  void CheckOp() {
    for (std::string& message : CheckAttrs(*kind_.op, kind_.attrs))
      Add(DefectCode::kAttr, std::move(message));
    if (defects_.empty() && !kind_.types_status.ok())
      Add(DefectCode::kAttr, std::string(kind_.types_status.message()));
    const int since = kind_.op->deprecated_since;
    if (since > 0 && graph_.producer() >= since) {
      Add(DefectCode::kVersion,
          absl::StrCat("the op is not available from GraphDef version ", since,
                       " on (the graph has ", graph_.producer(), "): ", kind_.op->deprecation));
    }
  }

  void CheckValue(const Attr& a) {
    if (a.name == kColocationAttr) return CheckClass(a.value);
    switch (a.value.kind()) {
      case AttrKind::kTensor:
        return CheckTensor(a.name, *a.value.AsTensorWire());
      case AttrKind::kFunc:
        if (const absl::StatusOr<FuncAttr> func = a.value.AsFunc(); func.ok())
          CheckFunction(a.name, func->name);
        return;
      case AttrKind::kShape:
        return CheckShape(a, a.value.AsShape().status());
      case AttrKind::kList:
        return CheckList(a);
      default:
        return;
    }
  }

  // CheckAttrs has checked the attributes of the OpDef. Others, such as _output_shapes, must hold
  // valid shapes too, since passes read them.
  void CheckShape(const Attr& a, const absl::Status& status) {
    if (status.ok() || (kind_.op != nullptr && kind_.op->FindAttr(a.name) != nullptr)) return;
    Add(DefectCode::kAttr, absl::StrCat("attribute '", a.name, "': ", status.message()));
  }

  void CheckList(const Attr& a) {
    if (a.value.list_kind() == AttrKind::kShape)
      return CheckShape(a, a.value.AsShapeList().status());
    if (a.value.list_kind() == AttrKind::kTensor) {
      const absl::StatusOr<std::vector<std::string_view>> tensors = a.value.AsTensorWireList();
      for (size_t i = 0; tensors.ok() && i < tensors->size(); ++i)
        CheckTensor(a.name, (*tensors)[i]);
    }
    if (a.value.list_kind() == AttrKind::kFunc) {
      const absl::StatusOr<std::vector<FuncAttr>> functions = a.value.AsFuncList();
      for (size_t i = 0; functions.ok() && i < functions->size(); ++i)
        CheckFunction(a.name, (*functions)[i].name);
    }
  }

  void CheckTensor(std::string_view attr, std::string_view wire) {
    const absl::StatusOr<TensorProtoHeader> header =
        CheckTensorWire(wire, static_cast<size_t>(options_.max_const_bytes));
    if (header.ok()) {
      if (attr == "value") CheckConst(header->dtype);
    } else if (!absl::IsUnimplemented(header.status())) {
      // A type that the host cannot decode is a matter of the run: TensorFlow may know it.
      Add(absl::IsResourceExhausted(header.status()) ? DefectCode::kLimit : DefectCode::kConst,
          absl::StrCat("attribute '", attr, "': ", header.status().message()));
    }
  }

  void CheckConst(DataType given) {
    const AttrValue* dtype = kind_.op_name == "Const" ? kind_.attrs.Find("dtype") : nullptr;
    if (dtype == nullptr) return;
    const absl::StatusOr<DataType> wanted = dtype->AsType();
    if (!wanted.ok() || given == *wanted) return;
    Add(DefectCode::kConst,
        absl::StrCat("attribute 'value' holds a ", DataTypeName(given),
                     " tensor where attribute 'dtype' says ", DataTypeName(*wanted)));
  }

  // An empty name stands for no function. An op of a plug-in may use a function's name as mere
  // data, and TensorFlow runs such graphs.
  void CheckFunction(std::string_view attr, std::string_view name) {
    const bool calls = kind_.op == nullptr || graph_.FindFunction(kind_.op_name) != nullptr ||
                       OpRegistry::Global().IsBuiltin(kind_.op_name);
    if (!calls || name.empty() || graph_.FindFunction(name) != nullptr ||
        OpRegistry::Global().Find(name) != nullptr)
      return;
    ClosestName closest(name);
    if (log_->MayHint()) {
      for (const FunctionEntry& f : graph_.functions()) closest.Offer(f.name);
    }
    Add(DefectCode::kNoFunction, absl::StrCat("attribute '", attr, "' names the function '", name,
                                              "', which is not in the library", closest.Hint()));
  }

  void CheckClass(const AttrValue& value) {
    const absl::StatusOr<std::vector<std::string_view>> entries = value.AsStringList();
    if (!entries.ok())
      return Add(DefectCode::kAttr,
                 absl::StrCat("attribute '_class' ", entries.status().message()));
    for (std::string_view entry : *entries) {
      if (!absl::ConsumePrefix(&entry, kColocationPrefix) || graph_.FindNode(entry) != kNoNode)
        continue;
      Add(DefectCode::kColocation, absl::StrCat("attribute '_class' asks to be placed with '",
                                                entry, "', which is no node of the graph"));
    }
  }

  const Graph& graph_;
  const NodeKind& kind_;
  const VerifyOptions& options_;
  DefectLog* log_;
  std::vector<KindDefect> defects_;
};

}  // namespace

std::vector<KindDefect> CheckKind(const Graph& graph, const NodeKind& kind,
                                  const VerifyOptions& options, DefectLog* log) {
  return KindChecker(graph, kind, options, log).Run();
}

}  // namespace tenon
