// Sessions: graphs and SavedModels from files, run by the names of their tensors.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/context.h"
#include "tenon/internal/own.h"
#include "tenon/internal/shared.h"
#include "tenon/internal/wire.h"
#include "tenon/op.h"
#include "tenon/structure.h"
#include "tenon/tensor.h"
#include "tenon/thread_pool.h"

namespace tenon::inline v0 {

// How a Session computes products of float32 and what lies between them. Inputs and outputs keep
// their types. `graph_run bench --ab --precision=bf16` shows by how much answers differ.
enum class Precision {
  kFloat32,   // as the graph says
  kBfloat16,  // to about 2 digits; TensorFlow's library, too, but none of those that follow
  kHalf,      // to about 3 digits; values beyond 65504 become infinite
  // Products with constant weights alone. The weights and what they multiply in 8 bits; the weights
  // in 8 or 4 bits, with a scale for each 32 of them.
  kInt8Dynamic,
  kInt8Weights,
  kInt4Weights,
  // Products and convolutions of what the graph itself rounds to 8 bits, as quantized models do.
  kInt8,
};

// How a Session runs its graph.
struct SessionOptions {
  // That share the work of runs; 0 or less: as many as cores that the process may use.
  int threads = 0;
  int opt_level = 1;  // 0 or less: no pass changes the graph; all above 0 are the same
  std::vector<std::string> plugins = {};  // files, loaded as LoadPlugin does, with its errors
  // Of a SavedModel; empty: "serving_default", else the only one, else none.
  std::string signature = {};
  double timeout = 0;  // the longest time of a run, in seconds; no limit below 1e-6 or from 9e15 on
  ThreadPool pool = {};  // runs on these threads, whatever `threads` says
  // FAILED_PRECONDITION with opt_level 0, since passes do it.
  Precision precision = Precision::kFloat32;
};

// A tensor of a signature.
struct SignatureTensor {
  std::string name;    // in calls
  std::string tensor;  // in the graph: "dense/BiasAdd:0"
  DType dtype = DType::kInvalid;
  Shape shape;
};

// What a signature takes and gives.
struct SignatureInfo {
  std::vector<SignatureTensor> inputs, outputs;
};

namespace internal {

struct SessionRep {
  TF_Graph* graph = nullptr;
  TF_Session* session = nullptr;
  std::map<std::string, SignatureInfo> signatures;
  SignatureInfo ends;       // inputs and outputs of the chosen signature, or of the graph
  std::string run_options;  // RunOptions bytes

  SessionRep() = default;
  SessionRep(const SessionRep&) = delete;
  SessionRep& operator=(const SessionRep&) = delete;
  ~SessionRep() {
    TF_Status* const status = TF_NewStatus();
    if (session != nullptr) TF_DeleteSession(session, status);
    TF_DeleteStatus(status);
    if (graph != nullptr) TF_DeleteGraph(graph);
  }

  // The output of a name: of the signature, or of the graph ("node" or "node:1"). A target is a
  // node of no outputs that is to run, such as "init". NOT_FOUND for an unknown name, OUT_OF_RANGE
  // for an output that the node does not have.
  TF_Output Find(const std::string& name, const std::vector<SignatureTensor>& tensors,
                 bool may_be_target, Where where) const {
    std::string full = name;
    for (const SignatureTensor& tensor : tensors) {
      if (tensor.name == name) full = tensor.tensor;
    }
    int index = 0;
    std::string node = full;
    if (const size_t colon = full.rfind(':');
        colon != std::string::npos && colon + 1 < full.size() &&
        full.find_first_not_of("0123456789", colon + 1) == std::string::npos &&
        full.size() - colon < 9) {
      index = std::stoi(full.substr(colon + 1));
      node.resize(colon);
    }
    TF_Operation* const operation = TF_GraphOperationByName(graph, node.c_str());
    if (operation == nullptr) {
      std::string known;
      for (const SignatureTensor& tensor : tensors)
        known += (known.empty() ? "" : ", ") + tensor.name;
      Throw(TF_NOT_FOUND,
            "The graph has no tensor \"" + name + "\"" +
                (known.empty() ? "" : "; there are " + known),
            where);
    }
    if (index >= TF_OperationNumOutputs(operation) && !(may_be_target && node == full)) {
      Throw(TF_OUT_OF_RANGE,
            "\"" + node + "\" has " + std::to_string(TF_OperationNumOutputs(operation)) +
                " outputs: \"" + name + "\" names another one",
            where);
    }
    return {operation, index};
  }

  // `targets` run too, and give nothing.
  std::vector<Tensor> Run(const std::vector<TF_Output>& feeds, const Tensor* values,
                          const std::vector<TF_Output>& fetches,
                          const std::vector<TF_Operation*>& targets, Where where) const {
    std::vector<TF_Tensor*> in;
    in.reserve(feeds.size());
    for (size_t i = 0; i < feeds.size(); ++i) in.push_back(values[i].Host(where));
    std::vector<TF_Tensor*> out(fetches.size(), nullptr);
    TF_Status* const status = ThreadStatus();
    const TF_Buffer options{run_options.data(), run_options.size(), nullptr};
    TF_SessionRun(session, run_options.empty() ? nullptr : &options, feeds.data(), in.data(),
                  static_cast<int>(feeds.size()), fetches.data(), out.data(),
                  static_cast<int>(fetches.size()), targets.data(),
                  static_cast<int>(targets.size()), nullptr, status);
    if (TF_GetCode(status) != TF_OK) {
      const std::string message = TF_Message(status);
      const std::string node(Between(message, "{{node ", "}}"));
      TF_Operation* const operation =
          node.empty() ? nullptr : TF_GraphOperationByName(graph, node.c_str());
      Throw(Error(TF_GetCode(status), message,
                  operation == nullptr ? "" : TF_OperationOpType(operation), node, where));
    }
    std::vector<Tensor> results;
    results.reserve(out.size());
    for (TF_Tensor* const tensor : out) results.push_back(Tensor::FromHost(tensor));
    return results;
  }
};

// Reads a TensorInfo of a signature.
inline SignatureTensor ReadTensorInfo(std::string name, std::string_view info) {
  SignatureTensor tensor;
  tensor.name = std::move(name);
  for (wire::Reader reader(info); reader.Next();) {
    if (reader.field == 1) tensor.tensor = reader.bytes;
    if (reader.field == 2) tensor.dtype = static_cast<DType>(reader.number);
    if (reader.field == 3) tensor.shape = wire::ReadShape(reader.bytes);
  }
  return tensor;
}

// One entry of a map: its key and the bytes of its value.
inline std::pair<std::string, std::string_view> ReadEntry(std::string_view entry) {
  std::pair<std::string, std::string_view> result;
  for (wire::Reader reader(entry); reader.Next();) {
    if (reader.field == 1) result.first = reader.bytes;
    if (reader.field == 2) result.second = reader.bytes;
  }
  return result;
}

// MetaGraphDef { map<string, SignatureDef> signature_def = 5 }, SignatureDef { inputs = 1, outputs
// = 2 }.
inline std::map<std::string, SignatureInfo> ReadSignatures(std::string_view meta_graph) {
  std::map<std::string, SignatureInfo> signatures;
  for (wire::Reader reader(meta_graph); reader.Next();) {
    if (reader.field != 5) continue;
    const auto [name, bytes] = ReadEntry(reader.bytes);
    SignatureInfo& signature = signatures[name];
    for (wire::Reader fields(bytes); fields.Next();) {
      if (fields.field != 1 && fields.field != 2) continue;
      const auto [key, info] = ReadEntry(fields.bytes);
      (fields.field == 1 ? signature.inputs : signature.outputs)
          .push_back(ReadTensorInfo(key, info));
    }
  }
  signatures.erase("__saved_model_init_op");
  return signatures;
}

}  // namespace internal

// Runs between fixed feeds and fetches without looking up names. Copies are the same callable,
// which keeps its session. Several threads may call it at once. One that MakeCallable did not make,
// or that was moved from, throws FAILED_PRECONDITION.
class Callable {
 public:
  // The values of the fetches for a value for each feed, in the order of MakeCallable.
  // INVALID_ARGUMENT for another number of values. Other errors are those of Session::Run.
  std::vector<Tensor> operator()(const std::vector<Tensor>& feeds,
                                 Where where = Where::current()) const {
    const internal::SessionRep& session = *session_;
    if (feeds.size() != feeds_.size()) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "The callable takes " + std::to_string(feeds_.size()) + " tensors, not " +
                          std::to_string(feeds.size()),
                      where);
    }
    return session.Run(feeds_, feeds.data(), fetches_, targets_, where);
  }

 private:
  friend class Session;
  internal::Shared<const internal::SessionRep> session_{"Callable"};
  std::vector<TF_Output> feeds_, fetches_;
  std::vector<TF_Operation*> targets_;
};

// A graph that is ready to run. Copies are the same session. Several threads may run it at once. A
// moved-from Session throws FAILED_PRECONDITION.
class Session {
 public:
  using Feed = std::pair<std::string, Tensor>;

  // Reads "m.pb", "m.pbtxt" (either may be packed with xz or gzip), or the folder of a SavedModel,
  // whose variables get their values. What has no such ending is taken for a folder. Of a folder
  // the graph with the one tag "serve" is taken. NOT_FOUND if there is no such file, or no such
  // graph in the folder. PERMISSION_DENIED if the file may not be read; NOT_FOUND for such a ".pb"
  // file on a library other than Tenon. INVALID_ARGUMENT for a malformed file, but OUT_OF_RANGE for
  // a malformed saved_model.pb and DATA_LOSS for a saved_model.pbtxt that is no text of the form.
  // INVALID_ARGUMENT for a signature that the model does not have. UNIMPLEMENTED on a library other
  // than Tenon for a file that is text or packed.
  // Else the errors of FromGraphDef, and those of restoring the variables.
  static Session Load(const std::string& path, const SessionOptions& options = {},
                      Where where = Where::current());
  // A session of the bytes of a GraphDef. INVALID_ARGUMENT for malformed bytes; else the errors of
  // LoadPlugin, TF_GraphImportGraphDef, TF_NewSession and TENON_SetThreadPool.
  static Session FromGraphDef(std::string_view graph_def, const SessionOptions& options = {},
                              Where where = Where::current());

  // The values of `fetches` for these feeds, in the order of `fetches`. Names are those of the
  // chosen signature, or of tensors of the graph: "y", "dense/MatMul:0". A node that has no outputs
  // is run and gives no value: Run({}, {"init"}). NOT_FOUND for an unknown name, OUT_OF_RANGE for
  // an output that the node does not have, FAILED_PRECONDITION for a feed that is a symbol.
  // INVALID_ARGUMENT without fetches, for an empty Tensor as a feed, and for a tensor that is fed
  // twice, or fed and fetched.
  // DEADLINE_EXCEEDED after the session's timeout, CANCELLED after Cancel, else the error of the
  // node that failed.
  std::vector<Tensor> Run(const std::vector<Feed>& feeds, const std::vector<std::string>& fetches,
                          Where where = Where::current()) const {
    std::vector<std::string> names;
    std::vector<Tensor> values;
    for (const Feed& feed : feeds) {
      names.push_back(feed.first);
      values.push_back(feed.second);
    }
    return MakeCallable(names, fetches, where)(values, where);
  }
  // Names are as for Run, with its errors for them: NOT_FOUND and OUT_OF_RANGE. Its other errors
  // come with the calls. A name of a node that has no outputs gives the callable no value.
  Callable MakeCallable(const std::vector<std::string>& feeds,
                        const std::vector<std::string>& fetches,
                        Where where = Where::current()) const {
    Callable callable;
    callable.session_ = internal::Shared<const internal::SessionRep>("Callable", rep_.pointer());
    for (const std::string& feed : feeds)
      callable.feeds_.push_back(rep_->Find(feed, rep_->ends.inputs, false, where));
    for (const std::string& fetch : fetches) {
      const TF_Output output = rep_->Find(fetch, rep_->ends.outputs, true, where);
      if (TF_OperationNumOutputs(output.oper) != 0) {
        callable.fetches_.push_back(output);
      } else {
        callable.targets_.push_back(output.oper);
      }
    }
    return callable;
  }

  // Ends the session: later runs are CANCELLED. A run that is going on, on another thread, is
  // CANCELLED where it waits or begins another pass of a loop, and between parts of a large kernel;
  // else it goes on to its end. Does not wait for runs. A second call does nothing.
  void Cancel() {
    TF_Status* const status = internal::ThreadStatus();
    TF_CloseSession(rep_->session, status);
    internal::Check(status);
  }

  // The threads that the session runs on, for others that shall share them. UNIMPLEMENTED on a
  // library other than Tenon.
  ThreadPool pool(Where where = Where::current()) const {
    internal::NeedTenon(TENON_ThreadPoolOfSession, "The pool of a session", where);
    TF_Status* const status = internal::ThreadStatus();
    TENON_ThreadPool* const pool = TENON_ThreadPoolOfSession(rep_->session, status);
    internal::Check(status, where);
    return ThreadPool::Take(pool);
  }

  // Of a SavedModel, by name, without "__saved_model_init_op"; empty for a graph.
  const std::map<std::string, SignatureInfo>& signatures() const { return rep_->signatures; }
  // Of the chosen signature; empty if there is none. Of a graph its nodes Placeholder and
  // PlaceholderWithDefault, and the outputs that no node takes, but for those of Const, VarHandleOp
  // and these two.
  const std::vector<SignatureTensor>& inputs() const { return rep_->ends.inputs; }
  const std::vector<SignatureTensor>& outputs() const { return rep_->ends.outputs; }

  // What becomes of the nodes between inputs() and outputs(), as ConcreteFunction::Explain says.
  std::string Explain() const {
    internal::NeedTenon(TENON_ExplainGraph, "Explain");
    TF_Status* const status = internal::ThreadStatus();
    TF_Buffer* const buffer = TF_NewBuffer();
    TF_GraphToGraphDef(rep_->graph, buffer, status);
    const std::string graph_def = internal::TakeBytes(buffer);
    internal::Check(status);
    std::vector<const char*> feeds, fetches;
    for (const SignatureTensor& input : inputs()) feeds.push_back(input.tensor.c_str());
    for (const SignatureTensor& output : outputs()) fetches.push_back(output.tensor.c_str());
    TF_Buffer* const text = TENON_ExplainGraph(graph_def.data(), graph_def.size(), feeds.data(),
                                               static_cast<int>(feeds.size()), fetches.data(),
                                               static_cast<int>(fetches.size()), status);
    internal::Check(status);
    return internal::TakeBytes(text);
  }

 private:
  explicit Session(std::shared_ptr<internal::SessionRep> rep) : rep_("Session", std::move(rep)) {}

  // A RewriterConfig that switches the pass of a precision on.
  static std::string RewriteOptions(Precision precision) {
    static constexpr const char* kPasses[] = {"",
                                              "auto_mixed_precision_onednn_bfloat16",
                                              "auto_mixed_precision_cpu",
                                              "dynamic_quantization",
                                              "weight_only_int8",
                                              "weight_only_int4",
                                              "static_quantization"};
    const char* const pass = kPasses[static_cast<int>(precision)];
    std::string rewrite;
    internal::wire::Int(rewrite, 17, -1);  // min_graph_nodes: any graph
    if (precision == Precision::kBfloat16) {
      internal::wire::Int(rewrite, 31, 1);  // the pass: ON
    } else {
      // custom_optimizers: one of this name
      internal::wire::Message(rewrite, 200, internal::wire::Text(1, pass));
    }
    return rewrite;
  }
  // The options of TF_NewSession, as a ConfigProto.
  static TF_SessionOptions* Options(const SessionOptions& options, Where where) {
    std::string config;
    if (options.threads > 0) internal::wire::Int(config, 2, options.threads);
    internal::wire::Int(config, 7, 1);  // allow_soft_placement
    std::string graph;
    if (options.opt_level <= 0) {
      std::string optimizer;
      internal::wire::Int(optimizer, 3, -1);  // opt_level: L0
      internal::wire::Message(graph, 3, optimizer);
      if (options.precision != Precision::kFloat32)
        internal::Throw(TF_FAILED_PRECONDITION,
                        "SessionOptions: passes lower the precision, and opt_level 0 runs none",
                        where);
    }
    if (options.precision > Precision::kBfloat16)
      internal::NeedTenon(TENON_ExplainGraph, "This precision", where);
    if (options.precision != Precision::kFloat32)
      internal::wire::Message(graph, 10, RewriteOptions(options.precision));
    if (!graph.empty()) internal::wire::Message(config, 10, graph);
    TF_Status* const status = internal::ThreadStatus();
    TF_SessionOptions* const result = TF_NewSessionOptions();
    TF_SetConfig(result, config.data(), config.size(), status);
    if (TF_GetCode(status) == TF_OK && options.pool.get() != nullptr)
      TENON_SetThreadPool(result, options.pool.get(), status);
    if (TF_GetCode(status) != TF_OK) {
      TF_DeleteSessionOptions(result);
      internal::Check(status, where);
    }
    return result;
  }
  static std::shared_ptr<internal::SessionRep> NewRep(const SessionOptions& options, Where where) {
    for (const std::string& plugin : options.plugins) LoadPlugin(plugin, {}, where);
    auto rep = std::make_shared<internal::SessionRep>();
    rep->graph = TF_NewGraph();
    // A longer time than fits is none.
    if (options.timeout > 0 && options.timeout < 9e15) {
      // RunOptions { timeout_in_ms = 2 }
      internal::wire::Int(rep->run_options, 2,
                          static_cast<int64_t>(options.timeout * 1000 + 0.999));
    }
    return rep;
  }
  static void FindEnds(internal::SessionRep& rep);

  internal::Shared<internal::SessionRep> rep_;
};

namespace internal {

// The GraphDef bytes of a graph file. TensorFlow's library reads none: there a file whose name ends
// in ".pb" is taken as it is, and any other one is UNIMPLEMENTED.
inline std::string ReadGraphFile(const std::string& path, Where where) {
  if (TENON_ReadGraph != nullptr || !path.ends_with(".pb")) {
    NeedTenon(TENON_ReadGraph, "A graph file that is not .pb", where);
    TF_Status* const status = ThreadStatus();
    TF_Buffer* const bytes = TENON_ReadGraph(path.c_str(), status);
    Check(status, where);
    return TakeBytes(bytes);
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) Throw(TF_NOT_FOUND, "Cannot read " + path, where);
  std::string bytes;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), file.get()))
    bytes.append(part, count);
  if (std::ferror(file.get()) != 0) Throw(TF_UNKNOWN, "Cannot read " + path, where);
  return bytes;
}

}  // namespace internal

// Placeholders, and outputs that no node takes.
inline void Session::FindEnds(internal::SessionRep& rep) {
  size_t position = 0;
  while (TF_Operation* const node = TF_GraphNextOperation(rep.graph, &position)) {
    const std::string_view type = TF_OperationOpType(node);
    const bool is_input = type == "Placeholder" || type == "PlaceholderWithDefault";
    for (int i = 0; i < TF_OperationNumOutputs(node); ++i) {
      const TF_Output output{node, i};
      if (!is_input && TF_OperationOutputNumConsumers(output) != 0) continue;
      if (!is_input && (type == "Const" || type == "VarHandleOp")) continue;
      SignatureTensor tensor;
      tensor.name = TF_OperationName(node);
      tensor.tensor = tensor.name + ":" + std::to_string(i);
      if (i != 0) tensor.name = tensor.tensor;
      tensor.dtype = static_cast<DType>(TF_OperationOutputType(output));
      TF_Status* const status = internal::ThreadStatus();
      const int rank = TF_GraphGetTensorNumDims(rep.graph, output, status);
      std::vector<int64_t> dims(static_cast<size_t>(rank < 0 ? 0 : rank));
      if (rank > 0) TF_GraphGetTensorShape(rep.graph, output, dims.data(), rank, status);
      tensor.shape = rank < 0 ? Shape::Unknown() : Shape(std::move(dims));
      (is_input ? rep.ends.inputs : rep.ends.outputs).push_back(std::move(tensor));
    }
  }
}

inline Session Session::FromGraphDef(std::string_view graph_def, const SessionOptions& options,
                                     Where where) {
  std::shared_ptr<internal::SessionRep> rep = NewRep(options, where);
  TF_Status* const status = internal::ThreadStatus();
  TF_ImportGraphDefOptions* const import = TF_NewImportGraphDefOptions();
  const TF_Buffer bytes{graph_def.data(), graph_def.size(), nullptr};
  TF_GraphImportGraphDef(rep->graph, &bytes, import, status);
  TF_DeleteImportGraphDefOptions(import);
  internal::Check(status, where);
  TF_SessionOptions* const session_options = Options(options, where);
  rep->session = TF_NewSession(rep->graph, session_options, status);
  TF_DeleteSessionOptions(session_options);
  internal::Check(status, where);
  FindEnds(*rep);
  return Session(std::move(rep));
}

inline Session Session::Load(const std::string& path, const SessionOptions& options, Where where) {
  TF_Status* const status = internal::ThreadStatus();
  const auto is_graph = [&path] {
    std::string name = path;
    for (const char* const packing : {".xz", ".gz"}) {
      if (name.ends_with(packing)) name.resize(name.size() - 3);
    }
    return name.ends_with(".pb") || name.ends_with(".pbtxt");
  };
  if (is_graph()) return FromGraphDef(internal::ReadGraphFile(path, where), options, where);
  std::shared_ptr<internal::SessionRep> rep = NewRep(options, where);
  TF_SessionOptions* const session_options = Options(options, where);
  const char* const tags[] = {"serve"};
  TF_Buffer* const meta_graph = TF_NewBuffer();
  rep->session = TF_LoadSessionFromSavedModel(session_options, nullptr, path.c_str(), tags, 1,
                                              rep->graph, meta_graph, status);
  TF_DeleteSessionOptions(session_options);
  const std::string meta = internal::TakeBytes(meta_graph);
  internal::Check(status, where);
  rep->signatures = internal::ReadSignatures(meta);
  std::string name = options.signature;
  if (name.empty() && rep->signatures.contains("serving_default")) name = "serving_default";
  if (name.empty() && rep->signatures.size() == 1) name = rep->signatures.begin()->first;
  if (const auto found = rep->signatures.find(name); found != rep->signatures.end()) {
    rep->ends = found->second;
  } else if (!name.empty()) {
    std::string known;
    for (const auto& [key, signature] : rep->signatures) known += (known.empty() ? "" : ", ") + key;
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The SavedModel has no signature \"" + name + "\"; it has " +
                        (known.empty() ? "none" : known),
                    where);
  }
  return Session(std::move(rep));
}

}  // namespace tenon::inline v0
