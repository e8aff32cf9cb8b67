# Writes OUT, the source of version_text(). Run as a script, again whenever HEAD or the sources change; the file is
# only touched when its text changes, so that a commit costs one small compilation and a link.
#   cmake -DSOURCE=… -DOUT=… -DVERSION=… -DCOMPILER=… -DBUILD_TYPE=… -P build_info.cmake

function(git_output result)
  execute_process(COMMAND git --no-optional-locks -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE output ERROR_QUIET
                  RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(output "")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

# An unpacked tarball may lie inside somebody else's checkout, whose commit is not ours.
git_output(top rev-parse --show-toplevel)
git_output(commit rev-parse --short=12 HEAD)
file(REAL_PATH "${SOURCE}" source)
if(top AND commit)
  file(REAL_PATH "${top}" top)
endif()
if(commit AND top STREQUAL source)
  git_output(changes status --porcelain -- src data CMakeLists.txt)
  set(origin "commit ${commit}")
  if(changes)
    string(APPEND origin ", changed")
  endif()
else()
  set(origin "not built from a git checkout")
endif()
if(NOT BUILD_TYPE)
  set(BUILD_TYPE "no build type")
endif()

set(text "#include \"app/build_info.h\"

namespace fathom {

std::string_view version_text() {
  return \"fathom ${VERSION} (${origin})\\n${COMPILER}, ${BUILD_TYPE}\";
}

}  // namespace fathom
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
