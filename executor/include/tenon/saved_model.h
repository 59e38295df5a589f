// SavedModels: functions with their variables in a folder that TensorFlow loads and serves.
#pragma once

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/checkpoint.h"
#include "tenon/graph_file.h"

namespace tenon::inline v0 {
namespace internal {

// The graph of a SavedModel: variables, the functions' calls, and nodes that save and restore.
class SavedModelGraph {
 public:
  SavedModelGraph(const std::vector<Variable*>& variables, Where where)
      : graph_(std::make_shared<TraceGraph>(nullptr)), where_(where) {
    CheckPointers(variables, where);
    for (const Variable* const variable : variables) HandleOf(variable->handle());
  }

  // Adds the call of a function under the name of a signature.
  void AddSignature(const std::string& name, const ConcreteFunction& function) {
    CheckName(name, "a signature", where_);
    const TraceScope scope(graph_.get(), nullptr);
    const FunctionRep& rep = *function.rep();
    rep.CheckCaptures(where_);
    std::vector<Tensor> tensors;
    std::string inputs, outputs;
    for (const TF_Output& input : rep.graph()->inputs()) {
      const Tensor symbol = rep.graph()->Symbol(input, where_);
      const std::string key = TF_OperationName(input.oper);
      tensors.push_back(
          graph_->Placeholder(symbol.dtype(), symbol.shape(), name + "_" + key, where_));
      Entry(inputs, 1, key, TensorInfo(tensors.back()));
    }
    for (const Tensor& capture : rep.graph()->captures()) {
      if (capture.IsSymbolic())
        capture.ThrowSymbolic("a function that uses it cannot be kept apart from that trace",
                              where_);
      tensors.push_back(
          capture.dtype() == DType::kResource
              ? HandleOf(capture)
              : graph_->Symbol(graph_->Constant(capture.Host(where_), "capture", where_), where_));
    }
    facts_.Add(rep);
    functions_.push_back(function.rep());
    // Each signature is run by itself: its call waits for no other.
    graph_->BeginOrder();
    const std::vector<Tensor> results =
        CallInTrace(*graph_, WaitingForEffects(function.rep()), tensors, where_);
    for (size_t i = 0; i < results.size(); ++i)
      Entry(outputs, 2, rep.output_names()[i], TensorInfo(results[i]));
    std::string signature = inputs + outputs;
    wire::Message(signature, 3, "tensorflow/serving/predict");
    Entry(signatures_, 5, name, signature);
  }

  const std::vector<Tensor>& handles() const { return handles_; }
  const std::vector<const VariableInfo*>& infos() const { return infos_; }

  // The bytes of the SavedModel.
  std::string Bytes() {
    const TraceScope scope(graph_.get(), nullptr);
    const std::string saver = AddSaver();
    std::string meta_info;
    wire::Message(meta_info, 4, "serve");  // tags
    wire::Message(meta_info, 5, TF_Version());
    std::string meta_graph;
    wire::Message(meta_graph, 1, meta_info);
    TF_Status* const status = ThreadStatus();
    TF_Buffer* const buffer = TF_NewBuffer();
    TF_GraphToGraphDef(graph_->graph(), buffer, status);
    const std::string graph_def = TakeBytes(buffer);
    Check(status, where_);
    wire::Message(meta_graph, 2, facts_.Write(graph_def));
    wire::Message(meta_graph, 3, saver);
    for (const char* const collection : {"variables", "trainable_variables"}) {
      std::string list;
      for (size_t i = 0; i < variable_defs_.size(); ++i) {
        if (collection[0] == 'v' || handles_[i].get()->is_trainable)
          wire::Message(list, 1, variable_defs_[i]);
      }
      std::string bytes_list;
      wire::Message(bytes_list, 2, list);  // CollectionDef { bytes_list }
      Entry(meta_graph, 4, collection, bytes_list);
    }
    meta_graph += signatures_;
    std::string model;
    wire::Int(model, 1, 1);  // saved_model_schema_version
    wire::Message(model, 2, meta_graph);
    return model;
  }

 private:
  // The function, or one that calls it and whose results wait for all that it does: TensorFlow
  // drops effects that no result waits for where it loads a model as functions.
  std::shared_ptr<FunctionRep> WaitingForEffects(const std::shared_ptr<FunctionRep>& function) {
    TraceGraph& called = *function->graph();
    if (function->use().must_run.empty() || function->outputs().empty()) return function;
    const auto graph = std::make_shared<TraceGraph>(nullptr);
    const TraceScope scope(graph.get(), nullptr);
    std::vector<Tensor> tensors;
    for (const auto* const list : {&called.inputs(), &called.capture_inputs()}) {
      for (const TF_Output& input : *list) {
        const Tensor symbol = called.Symbol(input, where_);
        tensors.push_back(
            graph->AddInput(symbol.dtype(), symbol.shape(), TF_OperationName(input.oper), where_));
        graph->CopyHandleData(symbol, tensors.back().output());
      }
    }
    const std::vector<Tensor> results = CallInTrace(*graph, function, tensors, where_);
    const ControlDependencies wait(results);
    std::vector<TF_Output> outputs;
    for (const Tensor& result : results)
      outputs.push_back(Op("Identity", where_).Input(result).RunOne().output());
    functions_.push_back(FunctionRep::Finish(
        function->name() + "_signature_" + std::to_string(NextNumber()), graph, outputs, where_));
    return functions_.back();
  }
  // An entry of a map from texts to messages.
  static void Entry(std::string& out, int field, const std::string& key, std::string_view value) {
    std::string entry;
    wire::Message(entry, 1, key);
    wire::Message(entry, 2, value);
    wire::Message(out, field, entry);
  }
  static std::string TensorInfo(const Tensor& tensor) {
    std::string info;
    wire::Message(info, 1, tensor.name());
    wire::Int(info, 2, static_cast<int>(tensor.dtype()));
    wire::Message(info, 3, wire::ShapeProto(tensor.shape()));
    return info;
  }

  // The node that stands for a variable, added when it is asked for first.
  Tensor HandleOf(const Tensor& handle) {
    const VariableInfo* const info = handle.get()->variable.get();
    if (info == nullptr) {
      Throw(TF_UNIMPLEMENTED, "A function uses a resource that is no Variable; it cannot be saved",
            where_);
    }
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i] == info) return nodes_[i];
    }
    const TraceScope scope(graph_.get(), nullptr);
    for (const VariableInfo* const other : infos_) {
      if (other->name != info->name) continue;
      Throw(TF_INVALID_ARGUMENT,
            "Two variables are named \"" + info->name +
                "\": a SavedModel keeps values by name. Give each its own, Variable v(value, "
                "{.name = \"v\"})",
            where_);
    }
    const Tensor node = Op("VarHandleOp", where_)
                            .Name(info->name)
                            .Attr("dtype", info->dtype)
                            .Attr("shape", info->shape)
                            .Attr("shared_name", info->name)
                            .RunOne();
    infos_.push_back(info);
    handles_.push_back(handle);
    nodes_.push_back(node);
    const Tensor value = Read(node, *info);
    // What initializes it where no checkpoint does: zeros, or empty texts.
    const Tensor zeros =
        Op("Fill", where_)
            .Input(Tensor::Of<int64_t>(Shape{info->shape.rank()}, info->shape.dims()))
            .Input(info->dtype == DType::kString
                       ? Tensor("")
                       : Op("Cast", where_).Input(Tensor(0.f)).Attr("DstT", info->dtype).RunOne())
            .Name(info->name + "/Initializer/zeros")
            .RunOne();
    TF_Operation* const assign = Assign(node, zeros, *info, info->name + "/Assign");
    std::string definition;
    const std::string name = TF_OperationName(node.output().oper);
    wire::Message(definition, 1, name + ":0");
    wire::Message(definition, 2, TF_OperationName(assign));
    wire::Message(definition, 3, value.name());
    wire::Int(definition, 5, 1);  // is_resource
    wire::Message(definition, 6, zeros.name());
    wire::Int(definition, 7, handle.get()->is_trainable ? 1 : 0);  // trainable
    variable_defs_.push_back(definition);
    return node;
  }
  Tensor Read(const Tensor& node, const VariableInfo& info) {
    return Op("ReadVariableOp", where_)
        .Name(info.name + "/Read/ReadVariableOp")
        .Input(node)
        .Attr("dtype", info.dtype)
        .RunOne();
  }
  TF_Operation* Assign(const Tensor& node, const Tensor& value, const VariableInfo& info,
                       const std::string& name) {
    Op op("AssignVariableOp", where_);
    op.Name(name).Input(node).Input(value).Attr("dtype", info.dtype);
    // In no order: each is run by itself.
    op.options().SetEffect(Effect::kNone);
    return op.AddToTrace();
  }

  // Nodes that write and read the variables' values, as a SaverDef names them.
  std::string AddSaver() {
    const NameScope save("save");
    std::vector<TF_Operation*> assigns;
    Tensor filename =
        Op("Const", where_).Attr("dtype", DType::kString).Attr("value", Tensor("model")).RunOne();
    Tensor saved = filename;
    if (!infos_.empty()) {
      std::vector<std::string> keys;
      std::vector<DType> types;
      std::vector<Tensor> values;
      for (size_t i = 0; i < infos_.size(); ++i) {
        keys.push_back(infos_[i]->name);
        types.push_back(infos_[i]->dtype);
        Op read("ReadVariableOp", where_);
        read.Input(nodes_[i]).Attr("dtype", infos_[i]->dtype);
        read.options().SetEffect(Effect::kNone);
        values.push_back(read.RunOne());
      }
      const Tensor names = StringVector(keys);
      const Tensor slices = StringVector(std::vector<std::string>(keys.size()));
      Op write("SaveV2", where_);
      write.Input(filename).Input(names).Input(slices).Input(values);
      write.options().SetEffect(Effect::kNone);
      TF_Operation* const written = write.AddToTrace();
      const TF_Output name = filename.output();
      saved = graph_->Symbol(
          {graph_->AddBehind({written}, &name, graph_->UniqueName("control_dependency"), where_),
           0},
          where_);
      Op read("RestoreV2", where_);
      read.Input(filename).Input(names).Input(slices).Attr("dtypes", types);
      read.options().SetEffect(Effect::kNone);
      const std::vector<Tensor> restored = read.Run();
      for (size_t i = 0; i < infos_.size(); ++i)
        assigns.push_back(Assign(nodes_[i], restored[i], *infos_[i], "AssignVariableOp"));
    }
    TF_Operation* const restore_all =
        graph_->AddBehind(assigns, nullptr, graph_->UniqueName("restore_all"), where_);
    std::string saver;
    wire::Message(saver, 1, filename.name());
    wire::Message(saver, 2, saved.name());
    wire::Message(saver, 3, TF_OperationName(restore_all));
    wire::Int(saver, 4, 5);  // max_to_keep
    wire::Int(saver, 7, 2);  // version: V2
    return saver;
  }

  const std::shared_ptr<TraceGraph> graph_;
  const Where where_;
  std::vector<const VariableInfo*> infos_;
  std::vector<Tensor> handles_, nodes_;  // of the program, and of the graph
  std::vector<std::string> variable_defs_;
  std::string signatures_;
  std::vector<std::shared_ptr<FunctionRep>> functions_;
  FactWriter facts_{nullptr, {}};
};

inline void MakeFolder(const std::string& path, Where where) {
  if (mkdir(path.c_str(), 0777) != 0)
    Throw(TF_UNKNOWN, "Cannot make the folder " + path + ": " + std::strerror(errno), where);
}

// The names in a folder, in no order, without "." and "..". Empty if it cannot be read.
inline std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* const entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(open);
  return names;
}

// A folder beside the one that is wanted, with a name that nothing had. The destructor removes the
// folder and the files in it and in its folder "variables", unless Rename gave it the wanted name.
class UnfinishedFolder {
 public:
  UnfinishedFolder(const std::string& wanted, Where where) : path_(wanted + ".unfinished") {
    for (int i = 1; mkdir(path_.c_str(), 0777) != 0; ++i) {
      if (errno != EEXIST)
        Throw(TF_UNKNOWN, "Cannot make the folder " + path_ + ": " + std::strerror(errno), where);
      path_ = wanted + ".unfinished-" + std::to_string(i);
    }
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  ~UnfinishedFolder() {
    if (path_.empty()) return;
    for (const std::string& name : NamesIn(path_ + "/variables"))
      unlink((path_ + "/variables/" + name).c_str());
    rmdir((path_ + "/variables").c_str());
    for (const std::string& name : NamesIn(path_)) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  void Rename(const std::string& wanted, Where where) {
    if (std::rename(path_.c_str(), wanted.c_str()) != 0)
      Throw(TF_UNKNOWN, "Cannot rename " + path_ + " to " + wanted + ": " + std::strerror(errno),
            where);
    path_.clear();
  }

 private:
  std::string path_;
};

}  // namespace internal

// Writes a SavedModel: a signature for each of `functions`, and the values of `variables` and of
// those that the functions use. tf.saved_model.load(dir).signatures["name"], saved_model_cli,
// TensorFlow Serving, graph_run and Session::Load take it. The inputs of a signature have the names
// of the function's placeholders, its outputs are output_0, output_1 ... `dir` must not exist or be
// an empty folder; it appears when all of it is written, and after an error nothing new is there.
// INVALID_ARGUMENT for the name of a signature that no node may have, for two variables of one
// name, for an empty `dir`, and for one that is a file or holds something. FAILED_PRECONDITION for
// a function that uses a symbol of another trace, also of one that is over. UNIMPLEMENTED for a
// function that uses a variant, or another resource than variables. UNKNOWN, or the error of
// SaveV2, for what the file system refuses. Pointers in `variables` must not be null.
inline void SaveSavedModel(const std::map<std::string, ConcreteFunction>& functions,
                           const std::vector<Variable*>& variables, const std::string& dir,
                           Where where = Where::current()) {
  std::string folder = dir;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  struct stat there;
  if (folder.empty())
    internal::Throw(TF_INVALID_ARGUMENT, "SaveSavedModel: the folder has no name", where);
  if (stat(folder.c_str(), &there) == 0 &&
      (!S_ISDIR(there.st_mode) || !internal::NamesIn(folder).empty()))
    internal::Throw(TF_INVALID_ARGUMENT, "SaveSavedModel: " + folder + " exists", where);
  internal::SavedModelGraph graph(variables, where);
  for (const auto& [name, function] : functions) graph.AddSignature(name, function);
  const std::string bytes = graph.Bytes();
  internal::UnfinishedFolder own(folder, where);
  const std::string& unfinished = own.path();
  internal::MakeFolder(unfinished + "/variables", where);
  const internal::OutsideTraces outside;
  std::vector<std::string> keys;
  std::vector<Tensor> values;
  for (size_t i = 0; i < graph.infos().size(); ++i) {
    keys.push_back(graph.infos()[i]->name);
    values.push_back(Op("ReadVariableOp", where)
                         .Input(graph.handles()[i])
                         .Attr("dtype", graph.infos()[i]->dtype)
                         .RunOne());
  }
  if (!keys.empty()) {
    Op("SaveV2", where)
        .Input(Tensor(unfinished + "/variables/variables"))
        .Input(internal::StringVector(keys))
        .Input(internal::StringVector(std::vector<std::string>(keys.size())))
        .Input(values)
        .RunNone();
  }
  const std::string file = unfinished + "/saved_model.pb";
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  const bool written =
      out != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  if ((out != nullptr && std::fclose(out) != 0) || !written)
    internal::Throw(TF_UNKNOWN, "Cannot write " + file, where);
  own.Rename(folder, where);
}

inline void SaveSavedModel(const std::map<std::string, ConcreteFunction>& functions,
                           std::initializer_list<Variable> variables, const std::string& dir,
                           Where where = Where::current()) {
  internal::WithPointers(variables, [&](const std::vector<Variable*>& pointers) {
    SaveSavedModel(functions, pointers, dir, where);
  });
}

}  // namespace tenon::inline v0
