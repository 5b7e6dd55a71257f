/* Entry points of the package. They call Rust, which returns an error as a tagged pointer; it is raised here, after all
 * Rust frames have returned. */
#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

SEXP savvy_apportion_run__ffi(SEXP job, SEXP values, SEXP input, SEXP threads, SEXP progress);
SEXP savvy_apportion_score_columns__ffi(SEXP names);
SEXP savvy_apportion_panic__ffi(SEXP thread);
SEXP savvy_apportion_parse_json__ffi(SEXP json);
SEXP savvy_apportion_write__ffi(SEXP path, SEXP text, SEXP overwrite);
SEXP savvy_apportion_write_report__ffi(SEXP report, SEXP path, SEXP overwrite);
SEXP savvy_apportion_write_figures__ffi(SEXP report, SEXP folder, SEXP overwrite);

static SEXP checked(SEXP result) {
    uintptr_t tagged = (uintptr_t) result;
    if ((tagged & 1) == 1) {
        SEXP error = (SEXP) (tagged & ~(uintptr_t) 1);
        if (TYPEOF(error) == CHARSXP) {
            Rf_errorcall(R_NilValue, "%s", CHAR(error));
        }
        R_ContinueUnwind(error);
    }
    return result;
}

static SEXP run(SEXP job, SEXP values, SEXP input, SEXP threads, SEXP progress) {
    return checked(savvy_apportion_run__ffi(job, values, input, threads, progress));
}

static SEXP score_columns(SEXP names) {
    return checked(savvy_apportion_score_columns__ffi(names));
}

static SEXP test_panic(SEXP thread) {
    return checked(savvy_apportion_panic__ffi(thread));
}

static SEXP parse_json(SEXP json) {
    return checked(savvy_apportion_parse_json__ffi(json));
}

static SEXP write_text(SEXP path, SEXP text, SEXP overwrite) {
    return checked(savvy_apportion_write__ffi(path, text, overwrite));
}

static SEXP write_report(SEXP report, SEXP path, SEXP overwrite) {
    return checked(savvy_apportion_write_report__ffi(report, path, overwrite));
}

static SEXP write_figures(SEXP report, SEXP folder, SEXP overwrite) {
    return checked(savvy_apportion_write_figures__ffi(report, folder, overwrite));
}

static const R_CallMethodDef entries[] = {
    {"run", (DL_FUNC) &run, 5},
    {"score_columns", (DL_FUNC) &score_columns, 1},
    {"test_panic", (DL_FUNC) &test_panic, 1},
    {"parse_json", (DL_FUNC) &parse_json, 1},
    {"write_text", (DL_FUNC) &write_text, 3},
    {"write_report", (DL_FUNC) &write_report, 3},
    {"write_figures", (DL_FUNC) &write_figures, 3},
    {NULL, NULL, 0}
};

void R_init_apportion(DllInfo *dll) {
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
