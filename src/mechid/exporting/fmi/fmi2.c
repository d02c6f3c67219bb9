/* FMI 2.0, model exchange and co-simulation. */

#define FMI2_FUNCTION_PREFIX MODEL_PREFIX
#include <stdlib.h>

#include "instance.c"
#include "fmi2Functions.h"

typedef struct {
    State state;
    fmi2CallbackFunctions functions;
    char name[128];
} Instance;

static fmi2Status failed(Instance *m, fmi2Status status, const char *message)
{
    /* No message has a % in it, and some importers do not fill in what is said with "%s". */
    if (m->functions.logger)
        m->functions.logger(m->functions.componentEnvironment, m->name, status, "logStatusError",
                            message);
    return status;
}

static fmi2Status failed_at(Instance *m, fmi2Status status, int reason)
{
    char message[256];
    snprintf(message, sizeof message, "t = %g s: %s", m->state.value[0], REASON[reason]);
    return failed(m, status, message);
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    (void)c, (void)on, (void)n, (void)names;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
    (void)type, (void)resources, (void)visible, (void)logging;
    if (!name || !guid || strcmp(guid, TOKEN)) return NULL;
    Instance *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (functions) m->functions = *functions;
    snprintf(m->name, sizeof m->name, "%s", name);
    reset_state(&m->state);
    return m;
}

void fmi2FreeInstance(fmi2Component c) { free(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean given, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_given, fmi2Real stop)
{
    State *s = &((Instance *)c)->state;
    (void)stop_given, (void)stop;
    if (given && tolerance > 0.0) s->tolerance = tolerance;
    s->value[0] = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *m = c;
    const int status = update(&m->state);
    return status == FINE ? fmi2OK : failed_at(m, fmi2Error, status);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    reset_state(&((Instance *)c)->state);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Instance *m = c;
    for (size_t i = 0; i < n; i++) {
        int known;
        const int status = get_value(&m->state, vr[i], &value[i], &known);
        if (!known) return failed(m, fmi2Error, "there is no such variable");
        if (status != FINE) return failed_at(m, fmi2Discard, status);
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                       const fmi2Real value[])
{
    Instance *m = c;
    for (size_t i = 0; i < n; i++)
        if (!set_value(&m->state, vr[i], value[i]))
            return failed(m, fmi2Error, "a variable cannot be set: it is a result, or not there");
    return fmi2OK;
}

/* All variables are real. */
#define NO_VARIABLES(NAME, TYPE)                                                        \
    fmi2Status fmi2Get##NAME(fmi2Component c, const fmi2ValueReference vr[], size_t n,  \
                             TYPE value[])                                              \
    {                                                                                   \
        (void)vr, (void)value;                                                          \
        return n ? failed(c, fmi2Error, "all variables are of type Real") : fmi2OK;     \
    }                                                                                   \
    fmi2Status fmi2Set##NAME(fmi2Component c, const fmi2ValueReference vr[], size_t n,  \
                             const TYPE value[])                                        \
    {                                                                                   \
        (void)vr, (void)value;                                                          \
        return n ? failed(c, fmi2Error, "all variables are of type Real") : fmi2OK;     \
    }

NO_VARIABLES(Integer, fmi2Integer)
NO_VARIABLES(Boolean, fmi2Boolean)
NO_VARIABLES(String, fmi2String)

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *m = c;
    if (!*state) *state = malloc(sizeof(State));
    if (!*state) return failed(m, fmi2Error, "out of memory");
    memcpy(*state, &m->state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    memcpy(&((Instance *)c)->state, state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size != sizeof(State)) return failed(c, fmi2Error, "a state has another size");
    memcpy(bytes, state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *state)
{
    if (size != sizeof(State)) return failed(c, fmi2Error, "a state has another size");
    if (!*state) *state = malloc(sizeof(State));
    if (!*state) return failed(c, fmi2Error, "out of memory");
    memcpy(*state, bytes, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[],
                                        size_t n_unknown, const fmi2ValueReference known[],
                                        size_t n_known, const fmi2Real seed[], fmi2Real result[])
{
    (void)unknown, (void)n_unknown, (void)known, (void)n_known, (void)seed, (void)result;
    return failed(c, fmi2Error, "there are no directional derivatives");
}

/* Model exchange */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_return,
                                       fmi2Boolean *enter_event_mode, fmi2Boolean *terminate)
{
    (void)c, (void)no_return;
    *enter_event_mode = *terminate = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    ((Instance *)c)->state.value[0] = time;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    if (n != N_X) return failed(c, fmi2Error, "wrong number of states");
    set_states(&((Instance *)c)->state, x);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real rate[], size_t n)
{
    Instance *m = c;
    if (n != N_X) return failed(m, fmi2Error, "wrong number of states");
    const int status = update(&m->state);
    if (status != FINE) return failed_at(m, fmi2Discard, status);
    if (N_X) memcpy(rate, m->state.value + AT_YD, N_X * sizeof *rate);
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n)
{
    (void)z;
    return n ? failed(c, fmi2Error, "there are no event indicators") : fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != N_X) return failed(c, fmi2Error, "wrong number of states");
    if (N_X) memcpy(x, ((Instance *)c)->state.value + AT_Y, N_X * sizeof *x);
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != N_X) return failed(c, fmi2Error, "wrong number of states");
    for (size_t i = 0; i < n; i++) x[i] = NOMINAL[i % N_F];
    return fmi2OK;
}

/* Co-simulation */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return n ? failed(c, fmi2Error, "inputs are held between the steps") : fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return n ? failed(c, fmi2Error, "there are no derivatives of outputs") : fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real step, fmi2Boolean no_return)
{
    Instance *m = c;
    (void)no_return;
    const int status = integrate(&m->state, now + step);
    return status == FINE ? fmi2OK : failed_at(m, fmi2Error, status);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    return failed(c, fmi2Error, "steps do not run in the background");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = ((Instance *)c)->state.value[0];
    return fmi2OK;
}

#define NO_STATUS(NAME, TYPE)                                                                 \
    fmi2Status fmi2Get##NAME(fmi2Component c, const fmi2StatusKind kind, TYPE *value)         \
    {                                                                                         \
        (void)c, (void)kind, (void)value;                                                     \
        return fmi2Discard;                                                                   \
    }

NO_STATUS(Status, fmi2Status)
NO_STATUS(IntegerStatus, fmi2Integer)
NO_STATUS(BooleanStatus, fmi2Boolean)
NO_STATUS(StringStatus, fmi2String)
