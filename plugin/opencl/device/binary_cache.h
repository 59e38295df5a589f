// Compiled programs on disk.
#pragma once

#include <string>
#include <vector>

namespace opencl {

// A folder of files, one for each key: $TENON_OPENCL_CACHE, else $XDG_CACHE_HOME/tenon/opencl, else
// $HOME/.cache/tenon/opencl, else none. TENON_OPENCL_CACHE=off keeps nothing. Processes may share
// the folder: each file is written under another name and renamed. Each file holds its key and a
// checksum, so that a damaged or foreign file counts as none. Nothing removes files: the folder
// grows with each new key. A folder that cannot be made or written to is no error: Write then does
// nothing. Thread-safe.
class BinaryCache {
 public:
  // Reads the environment, and makes the folder with those above it.
  BinaryCache();

  // Empty if there is no such entry.
  std::vector<unsigned char> Read(const std::string& key) const;
  // Does nothing for an empty binary.
  void Write(const std::string& key, const std::vector<unsigned char>& binary) const;

 private:
  std::string PathOf(const std::string& key) const;
  std::string folder_;  // empty: no cache
};

}  // namespace opencl
