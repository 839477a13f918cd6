#include <flite/cst_lexicon.h>
#include <flite/flite.h>

// The library installs no headers for its English lexicon and its voices.
cst_lexicon *cmulex_init(void);
cst_voice *register_cmu_us_slt(const char *folder);
