#include "support/edited_interpreter.hpp"

#include "jit/cubin_cache.hpp"
#include "jit/interpreter.hpp"
#include "jit/sources.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::test {

namespace fs = std::filesystem;

jit::CompileRequest edited_interpreter(const std::vector<SourceEdit>& edits) {
  jit::CompileRequest request = jit::interpreter_request(program::Architecture::sm_90a);
  request.max_code_bytes = 0;  // edits and line numbers may make it longer
  for (const SourceEdit& edit : edits) {
    std::string& text = request.edited_headers[std::string(edit.file)];
    if (text.empty()) text = jit::embedded_source(edit.file);
    const std::size_t at = text.find(edit.text);
    MK_CHECK(at != std::string::npos && text.find(edit.text, at + 1) == std::string::npos,
             "{} has '{}' {}: an edit must match exactly once", edit.file, edit.text,
             at == std::string::npos ? "nowhere" : "several times");
    text.replace(at, edit.text.size(), edit.replacement);
  }
  return request;
}

fs::path edited_cubin_path(const fs::path& folder, std::string_view kind, const std::vector<SourceEdit>& edits) {
  Hasher hasher;
  for (const SourceEdit& edit : edits) hasher.add(edit.file).add(edit.text).add(edit.replacement);
  const std::string stem = fs::path(jit::shipped_name(program::Architecture::sm_90a)).stem().string();
  return folder / fmt::format("{}-{}{}.cubin", stem, kind, hasher.digest().hex());
}

void compile_edited(const fs::path& folder, std::string_view kind, const std::vector<SourceEdit>& edits,
                    bool line_info) {
  const fs::path path = edited_cubin_path(folder, kind, edits);
  const std::string stem = path.stem().string();
  jit::CompileRequest request = edited_interpreter(edits);
  request.line_info = line_info;
  const std::string cubin = jit::compile(request).cubin;
  fs::create_directories(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cubin") fs::remove(entry.path());
  write_file(path, jit::pack(stem.substr(stem.find('-') + 1), cubin));
}

}  // namespace megakittens::test
