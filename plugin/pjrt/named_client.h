// The PJRT clients that NextPluggableDevices share with their plug-ins, by the name of the device
// type (TF_CreateAndSetPjRtCApiClient and its neighbours).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/client.h"
#include "plugin/pjrt/options.h"

namespace tenon::pjrt {

// The table of functions for one plug-in's device type, and the client, if there is one.
// Thread-safe.
class NamedClient {
 public:
  // Registers the type for Find, as long as the returned object lives. `options` are those of a
  // client that GetOrCreate makes.
  static std::shared_ptr<NamedClient> Make(std::string type, std::shared_ptr<const Api> api,
                                           std::vector<ClientOption> options);
  // The entry for `type`. Of several, that of the plug-in whose code this thread runs, else the
  // newest. NOT_FOUND, naming the type.
  static absl::StatusOr<std::shared_ptr<NamedClient>> Find(std::string_view type);

  NamedClient(const NamedClient&) = delete;
  NamedClient& operator=(const NamedClient&) = delete;

  const std::string& type() const { return type_; }
  const Api& api() const { return *api_; }

  // Makes the client, in the place of one that is there. FAILED_PRECONDITION while anything of that
  // one is in use (a buffer, a program); errors of Client::Create, after which there is no client.
  absl::Status Create(const std::vector<ClientOption>& options);
  // Lets the client go; it ends with the last of its buffers and programs. NOT_FOUND if there is
  // none.
  absl::Status Reset();
  // NOT_FOUND if there is none.
  absl::StatusOr<std::shared_ptr<Client>> Get() const;
  // Makes the client if there is none.
  absl::StatusOr<std::shared_ptr<Client>> GetOrCreate();

 private:
  NamedClient(std::string type, std::shared_ptr<const Api> api, std::vector<ClientOption> options)
      : type_(std::move(type)), api_(std::move(api)), options_(std::move(options)) {}
  absl::Status CheckUnused() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const std::string type_;
  const std::shared_ptr<const Api> api_;
  const std::vector<ClientOption> options_;
  absl::Mutex making_;  // held while the plug-in makes a client; taken before mutex_
  mutable absl::Mutex mutex_;
  std::shared_ptr<Client> client_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::pjrt
