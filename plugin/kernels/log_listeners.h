// Who hears what ops print to the log. One list for the process. Thread-safe.
#pragma once

#include <string>

namespace tenon {

using LogListener = void (*)(const char* text);

// Adds a listener, which must not be null and stays. A listener that is added twice hears each text
// twice.
void AddLogListener(LogListener listener);

// Calls all listeners with the text, in the order in which they were added, on this thread. Returns
// whether there are any; else the caller prints the text.
bool TellLogListeners(const std::string& text);

}  // namespace tenon
